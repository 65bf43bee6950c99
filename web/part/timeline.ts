/** The timeline of one document, derived from its events. */
import type { Event } from '../../src/contract/schema/schema.ts';

export interface Run {
  readonly step: string;
  readonly attempt: number;
  readonly worker: string | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly outcome: 'open' | 'done' | 'failed' | 'lost';
  /** The cost and output of a run, or its failure and the decision that followed. */
  readonly notes: readonly string[];
  readonly costCents: number;
}

const ends: Partial<Record<Event['kind'], Run['outcome']>> = {
  step_completed: 'done',
  step_failed: 'failed',
};

export function timelineOf(events: readonly Event[], itemId: number): Run[] {
  const runs: Run[] = [];
  for (const event of events) {
    if (event.item_id !== itemId) continue;
    const outcome = ends[event.kind];
    if (event.kind === 'step_started') runs.push(startOf(event));
    else if (outcome) endRun(runs, event, outcome);
    else if (event.kind === 'retry_scheduled') noteRetry(runs, event);
    else if (event.kind === 'lease_lost') loseAll(runs, event);
  }
  return runs;
}

function startOf({ step, attempt, worker, at }: Event): Run {
  return {
    step: step ?? '',
    attempt: attempt ?? 1,
    worker,
    startedAt: Date.parse(at),
    endedAt: null,
    outcome: 'open',
    notes: [],
    costCents: 0,
  };
}

function endRun(runs: Run[], event: Event, outcome: Run['outcome']): void {
  const place = runs.findLastIndex(
    ({ step, outcome: before }) => step === event.step && before === 'open',
  );
  const begun = runs[place] ?? startOf(event);
  const ended: Run = {
    ...begun,
    endedAt: Date.parse(event.at),
    outcome,
    notes: notesOf(event),
    costCents: numberOf(event.detail.cost_cents),
  };
  if (place === -1) runs.push(ended);
  else runs[place] = ended;
}

function noteRetry(runs: Run[], event: Event): void {
  const place = runs.findLastIndex(({ step }) => step === event.step);
  const run = runs[place];
  if (!run) return;
  const reason = event.detail.reason;
  const due = event.detail.due_at;
  const when = typeof due === 'number' ? ` at ${new Date(due).toLocaleTimeString('en-GB')}` : '';
  const text = typeof reason === 'string' ? reason : `retry${when}`;
  runs[place] = { ...run, notes: [...run.notes, text] };
}

function loseAll(runs: Run[], event: Event): void {
  runs.forEach((run, place) => {
    if (run.outcome !== 'open') return;
    const notes = [...run.notes, 'the worker was lost; this run does not count'];
    runs[place] = { ...run, outcome: 'lost', endedAt: Date.parse(event.at), notes };
  });
}

const resultTexts: readonly (readonly [name: string, text: (value: unknown) => string])[] = [
  ['code', String],
  ['message', String],
  ['chunks', (value) => `${value} chunks`],
  ['entities', (value) => `${value} entities`],
  ['model', String],
  ['tokens_in', (value) => `${value} tokens in`],
  ['tokens_out', (value) => `${value} tokens out`],
];

function notesOf({ detail }: Event): string[] {
  return resultTexts.flatMap(([name, text]) =>
    detail[name] === undefined ? [] : text(detail[name]),
  );
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
