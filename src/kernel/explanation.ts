/** Explains in a sentence or two why an item is where it is and what happens next. */

import type { WaitsOn } from './lifecycle/item-wait.ts';
import { limits } from './limits/limits.ts';

export interface ItemView {
  /** The state shown to people. */
  readonly step: string;
  /** The steps that can run now. */
  readonly next: readonly string[];
  readonly waitsOn: WaitsOn | null;
  /** Failed tries of the current step. */
  readonly failedTries: number;
  readonly triesMax: number;
  readonly dueAt: number | null;
  readonly worker: string | null;
  /** Time since the worker's last heartbeat; null if unknown. */
  readonly silentMs: number | null;
  readonly working: { readonly step: string; readonly done: number; readonly total: number } | null;
  readonly gate: string | null;
  readonly gateLimits: { readonly concurrency: number; readonly intervalMs: number } | null;
  /** How many items are ahead of it, and whether the count stopped at its bound. */
  readonly before: number;
  readonly isBeforeCut: boolean;
  /** The service that it waits for, or that works on it. */
  readonly service?: ServiceView | undefined;
  /** The failure that it ended with, or waits after. */
  readonly error: {
    readonly step: string;
    readonly code: string;
    readonly title: string;
    readonly kind: string;
    /** An outage affects all documents and uses no retry. */
    readonly isOutage: boolean;
  } | null;
  readonly advice: string | null;
  readonly now: number;
}

export interface ServiceView {
  readonly stage: string;
  readonly worker: string | null;
  readonly isAway: boolean;
}

export function explain(view: ItemView): string {
  const { waitsOn, step } = view;
  if ((waitsOn === 'turn' || waitsOn === 'worker') && view.service) {
    return explainService(view, view.service);
  }
  if (waitsOn !== null) return explainWait[waitsOn](view);
  return (explainEnd[step] ?? explainUnknown)(view);
}

const explainWait: Readonly<Record<WaitsOn, (view: ItemView) => string>> = {
  turn: (view) =>
    view.before === 0
      ? `Next in the queue, to be ${doing(view)}.`
      : `In the queue to be ${doing(view)}, behind ${others(view)}.`,
  worker: (view) => `Being ${doing(view)}${howFar(view)} by worker ${view.worker}${silence(view)}.`,
  time: (view) => `Waiting ${until(view)} to be ${doing(view)}${whyLater(view)}.`,
  gate: (view) => `Waiting for a slot at ${view.gate}, ${inLine(view)}${pace(view)}.`,
  task: (view) =>
    `Waiting for a batch task at a provider, to be ${doing(view)} when the task has ended.`,
  person: (view) => `Its job is paused; it will be ${doing(view)} when the job is resumed.`,
};

/** The step runs in another process. */
function explainService(view: ItemView, { stage, worker, isAway }: ServiceView): string {
  if (worker !== null) return `Being ${doing(view)}${howFar(view)} by worker ${worker}.`;
  if (isAway) {
    const none = `no worker of the ${stage} stage is running`;
    return `Waiting to be ${doing(view)}: ${none}. It continues when one starts.`;
  }
  const queue = `the queue of the ${stage} workers`;
  return view.before === 0
    ? `In ${queue}, to be ${doing(view)}.`
    : `In ${queue} to be ${doing(view)}, behind ${others(view)}.`;
}

const explainEnd: Readonly<Record<string, (view: ItemView) => string>> = {
  done: () => 'Searchable.',
  failed: ({ error, advice }) =>
    error === null
      ? 'Failed; it can be retried or discarded.'
      : `Failed while it was ${words[error.step] ?? error.step} (${error.code}): ${error.title}. ` +
        `${advice ?? ''} Then retry or discard it.`,
  canceled: (view) =>
    `Canceled before it was ${doing(view)}; retrying its job continues from there.`,
};

function explainUnknown({ step }: ItemView): string {
  return `Stuck at ${step}: nothing is scheduled to move it. This is a defect in Pawl.`;
}

/** Each step as a past participle for a sentence. */
const words: Readonly<Record<string, string>> = {
  fetched: 'fetched',
  content_extracted: 'parsed',
  chunked: 'chunked',
  embedded: 'embedded',
  entity_extracted: 'searched for entities',
  persisted: 'assembled',
  indexed: 'indexed',
  done: 'finished',
};

function doing({ next }: ItemView): string {
  const named = next.map((step) => words[step] ?? `moved to ${step}`);
  const last = named.pop() ?? 'finished';
  return named.length === 0 ? last : `${named.join(', ')} and ${last}`;
}

/** A try number is shown only after a failure that uses up a retry. */
function whyLater(view: ItemView): string {
  const { error, failedTries, triesMax, gate } = view;
  if (error === null) return gate === null ? '' : `: rate limit of ${gate}`;
  const what = `${error.title} (${error.code})`;
  if (error.kind === 'rate_limited') return `: ${what}. This uses no retry`;
  if (error.isOutage) return `: ${what}. It is checked until the outage ends and uses no retry`;
  return ` again after ${error.code}: try ${failedTries + 1} of ${triesMax}`;
}

function others({ before, isBeforeCut }: ItemView): string {
  const count = before.toLocaleString('en-US');
  if (isBeforeCut) return `more than ${count} others`;
  return before === 1 ? 'one other' : `${count} others`;
}

function inLine(view: ItemView): string {
  return view.before === 0 ? 'first in line' : `behind ${others(view)}`;
}

function howFar({ working }: ItemView): string {
  if (working === null) return '';
  const { step, done, total } = working;
  return ` (${done} of ${total} chunks ${words[step] ?? step})`;
}

/** Shown only after a missed heartbeat. */
function silence({ silentMs }: ItemView): string {
  const { heartbeatMs, ttlMs } = limits.lease;
  if (silentMs === null || silentMs < 2 * heartbeatMs) return '';
  const left = Math.max(ttlMs - silentMs, 0);
  return `, silent for ${seconds(silentMs)}; another worker takes over within ${seconds(left)}`;
}

function until({ dueAt, now }: ItemView): string {
  const left = (dueAt ?? now) - now;
  return left <= 0 ? 'for a free worker' : seconds(left);
}

function pace({ gateLimits }: ItemView): string {
  if (gateLimits === null) return '';
  const { concurrency, intervalMs } = gateLimits;
  const delay = intervalMs > 0 ? `, with a delay of ${seconds(intervalMs)}` : '';
  const pages = concurrency === 1 ? 'one page is' : `${concurrency} pages are`;
  return `: ${pages} fetched at a time${delay}`;
}

function seconds(spanMs: number): string {
  if (spanMs < 1000) return `${Math.ceil(spanMs)} ms`;
  const whole = Math.ceil(spanMs / 1000);
  return whole < 120 ? `${whole} s` : `${Math.round(whole / 60)} min`;
}
