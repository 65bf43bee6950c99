/**
 * When a source runs: `every 15m`, or five cron fields in UTC. Times that were missed are run once:
 * the next time is always after now.
 */
import { Failure } from './failure/failure.ts';
import { limits } from './limits/limits.ts';

export type Schedule =
  | { readonly kind: 'every'; readonly everyMs: number }
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
  const every = /^(?:every\s+)?(\d{1,6})\s*([smhd])$/i.exec(text.trim());
  if (every) return { kind: 'every', everyMs: intervalOf(text, every) };
  const fields = text.trim().split(/\s+/);
  if (fields.length !== bounds.length) throw wrong(text);
  return {
    kind: 'cron',
    fields: fields.map((field, index) => parseField(text, field, bounds[index] as Bounds)),
    isAnyDay: { ofMonth: fields[2] === '*', ofWeek: fields[4] === '*' },
  };
}

function intervalOf(text: string, [, count = '', unit = '']: RegExpExecArray): number {
  const everyMs = Number(count) * (unitsMs[unit.toLowerCase()] as number);
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
  const forms = 'an interval such as 15m, 2h or 1d, or five cron fields such as "0 3 * * *"';
  return new Failure('bad_request', `the schedule ${JSON.stringify(text)} is not ${forms}`);
}

/** The next time after now. A schedule that has no such time within five years is refused. */
export function nextTime(schedule: Schedule, now: number): number {
  if (schedule.kind === 'every') return now + schedule.everyMs;
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
