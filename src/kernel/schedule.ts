/**
 * When a source runs: `every 15m`, or five cron fields in UTC. `every 15m..1d` doubles the interval
 * after each run without a change, up to a day. Times that were missed are run once: the next time
 * is always after now.
 */
import { Failure } from './failure/failure.ts';
import { limits } from './limits/limits.ts';

export type Schedule =
  | {
      readonly kind: 'every';
      readonly everyMs: number;
      /** The interval of what does not change. */
      readonly longestMs: number;
    }
  | {
      readonly kind: 'cron';
      readonly fields: readonly ReadonlySet<number>[];
      readonly isAnyDay: AnyDay;
    };

interface AnyDay {
  readonly ofMonth: boolean;
  readonly ofWeek: boolean;
}

const unitsMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** The bounds of minute, hour, day of the month, month and day of the week. */
const bounds = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const;

export function parseSchedule(text: string): Schedule {
  const every = /^(?:every\s+)?(\d{1,6}\s*[smhd])(?:\s*\.\.\s*(\d{1,6}\s*[smhd]))?$/i.exec(
    text.trim(),
  );
  if (every) return intervalsOf(text, every);
  const fields = text.trim().split(/\s+/);
  if (fields.length !== bounds.length) throw wrong(text);
  return {
    kind: 'cron',
    fields: fields.map((field, index) => parseField(text, field, bounds[index] as Bounds)),
    isAnyDay: { ofMonth: fields[2] === '*', ofWeek: fields[4] === '*' },
  };
}

function intervalsOf(text: string, [, first = '', last = first]: RegExpExecArray): Schedule {
  const [everyMs, longestMs] = [intervalOf(text, first), intervalOf(text, last)];
  if (longestMs >= everyMs) return { kind: 'every', everyMs, longestMs };
  throw new Failure('bad_request', `the second interval of ${text} is shorter than the first`);
}

function intervalOf(text: string, interval: string): number {
  const unit = interval.slice(-1).toLowerCase();
  const everyMs = Number(interval.slice(0, -1)) * (unitsMs[unit] as number);
  const { everyMsMin, everyMsMax } = limits.sync;
  if (everyMs >= everyMsMin && everyMs <= everyMsMax) return everyMs;
  const message = `the interval ${text} is not between ${everyMsMin / 1000}s and 366d`;
  throw new Failure('bad_request', message);
}

type Bounds = readonly [min: number, max: number];

function parseField(text: string, field: string, [min, max]: Bounds): ReadonlySet<number> {
  const values = new Set<number>();
  for (const part of field.split(',')) {
    const match = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part);
    if (!match) throw wrong(text);
    const [, first, last, step = '1'] = match;
    const from = first === undefined ? min : Number(first);
    const open = first === undefined || match[3] !== undefined ? max : from;
    const to = last === undefined ? open : Number(last);
    if (from < min || to > max || from > to || Number(step) < 1) throw wrong(text);
    // Sunday is 0 and 7.
    for (let value = from; value <= to; value += Number(step)) {
      values.add(max === 7 ? value % 7 : value);
    }
  }
  return values;
}

function wrong(text: string): Failure {
  const forms =
    'an interval such as 15m, 2h or 1d, two such as 15m..1d, or five cron fields such as ' +
    '"0 3 * * *"';
  return new Failure('bad_request', `the schedule ${JSON.stringify(text)} is not ${forms}`);
}

/**
 * The next time after now, when so many runs in a row found no change. A schedule that has no such
 * time within five years is refused.
 */
export function nextTime(schedule: Schedule, now: number, quietRuns = 0): number {
  if (schedule.kind === 'every') {
    const { everyMs, longestMs } = schedule;
    const doubled = everyMs * 2 ** Math.min(quietRuns, limits.sync.quietRunsMax);
    return now + Math.min(doubled, longestMs);
  }
  const { fields, isAnyDay } = schedule;
  const [minutes, hours, days, months, weekdays] = fields as [Field, Field, Field, Field, Field];
  const at = new Date(now);
  at.setUTCSeconds(0, 0);
  at.setUTCMinutes(at.getUTCMinutes() + 1);
  const end = now + 5 * 366 * 86_400_000;
  while (at.getTime() <= end) {
    const byDay = { day: days.has(at.getUTCDate()), weekday: weekdays.has(at.getUTCDay()) };
    if (!months.has(at.getUTCMonth() + 1)) {
      at.setUTCMonth(at.getUTCMonth() + 1, 1);
      at.setUTCHours(0, 0);
    } else if (!isOnDay(byDay, isAnyDay)) {
      at.setUTCDate(at.getUTCDate() + 1);
      at.setUTCHours(0, 0);
    } else if (!hours.has(at.getUTCHours())) {
      at.setUTCHours(at.getUTCHours() + 1, 0);
    } else if (!minutes.has(at.getUTCMinutes())) {
      at.setUTCMinutes(at.getUTCMinutes() + 1);
    } else {
      return at.getTime();
    }
  }
  throw new Failure('bad_request', 'the cron fields name a time that never comes');
}

type Field = ReadonlySet<number>;

/** As in cron: if both days are restricted, one of them is enough. */
function isOnDay(is: { day: boolean; weekday: boolean }, { ofMonth, ofWeek }: AnyDay): boolean {
  if (ofMonth || ofWeek) return is.day && is.weekday;
  return is.day || is.weekday;
}
