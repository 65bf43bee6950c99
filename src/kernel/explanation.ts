/** Why an item is where it is, and what happens next, in a sentence or two. */

import type { WaitsOn } from './lifecycle/item-wait.ts';
import { limits } from './limits/limits.ts';

export interface ItemView {
  /** The state people see. */
  readonly step: string;
  /** The steps that can run now. */
  readonly next: readonly string[];
  readonly waitsOn: WaitsOn | null;
  /** Tries of the present step that have failed. */
  readonly failedAttempts: number;
  readonly attemptsMax: number;
  readonly dueAt: number | null;
  readonly worker: string | null;
  /** How long the worker has not been heard of; null where it is not known. */
  readonly silentMs: number | null;
  readonly working: { readonly step: string; readonly done: number; readonly total: number } | null;
  readonly gate: string | null;
  readonly gateLimits: { readonly concurrency: number; readonly intervalMs: number } | null;
  /** How many stand before it, and whether counting stopped there. */
  readonly before: number;
  readonly isBeforeCut: boolean;
  /** The service that it waits for, or that is at it. */
  readonly service?: ServiceView | undefined;
  /** What it failed with, or waits after. */
  readonly error: {
    readonly step: string;
    readonly code: string;
    readonly title: string;
    readonly kind: string;
    /** All documents wait for it: it spends no retry. */
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
  time: (view) => `Waits ${until(view)} to be ${doing(view)}${whyLater(view)}.`,
  gate: (view) => `Waits for a place at ${view.gate}, ${inLine(view)}${pace(view)}.`,
  task: (view) =>
    `Waits for a batch task at a provider, and will be ${doing(view)} when the task has ended.`,
  person: (view) => `Its job is paused; it will be ${doing(view)} when the job is resumed.`,
};

/** Its work is done in another process. */
function explainService(view: ItemView, { stage, worker, isAway }: ServiceView): string {
  if (worker !== null) return `Being ${doing(view)}${howFar(view)} by worker ${worker}.`;
  if (isAway) {
    const none = `no worker of the stage ${stage} is there`;
    return `Waits to be ${doing(view)}: ${none}. It goes on by itself when one comes.`;
  }
  const queue = `the queue of the stage ${stage}`;
  return view.before === 0
    ? `In ${queue}, to be ${doing(view)}.`
    : `In ${queue} to be ${doing(view)}, behind ${others(view)}.`;
}

const explainEnd: Readonly<Record<string, (view: ItemView) => string>> = {
  done: () => 'Indexed: it can be found.',
  failed: ({ error, advice }) =>
    error === null
      ? 'Failed; it can be retried or discarded.'
      : `Failed while it was ${words[error.step] ?? error.step} (${error.code}): ${error.title}. ` +
        `${advice ?? ''} Then retry it, or discard it.`,
  canceled: (view) =>
    `Canceled before it was ${doing(view)}; a retry of its job goes on from there.`,
};

function explainUnknown({ step }: ItemView): string {
  return `At ${step}, and nothing is bound to move it: this is a defect in Pawl.`;
}

/** Each step as what is done to a document. */
const words: Readonly<Record<string, string>> = {
  fetched: 'fetched',
  content_extracted: 'read for its text',
  chunked: 'cut into chunks',
  embedded: 'embedded',
  entity_extracted: 'searched for names',
  persisted: 'put together',
  indexed: 'indexed',
  done: 'finished',
};

function doing({ next }: ItemView): string {
  const named = next.map((step) => words[step] ?? `brought to ${step}`);
  const last = named.pop() ?? 'finished';
  return named.length === 0 ? last : `${named.join(', ')} and ${last}`;
}

/** Only a failure that spends a retry is followed by a numbered try. */
function whyLater(view: ItemView): string {
  const { error, failedAttempts, attemptsMax, gate } = view;
  if (error === null) return gate === null ? '' : `: the rate limit of ${gate} allows it then`;
  const what = `${error.title} (${error.code})`;
  if (error.kind === 'rate_limited') return `: ${what}. No retry is spent`;
  if (error.isOutage) return `: ${what}. It looks again until that is over, and spends no retry`;
  return ` again after ${error.code}: try ${failedAttempts + 1} of ${attemptsMax}`;
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

/** Only worth a word when a heartbeat was missed. */
function silence({ silentMs }: ItemView): string {
  const { heartbeatMs, ttlMs } = limits.lease;
  if (silentMs === null || silentMs < 2 * heartbeatMs) return '';
  const left = Math.max(ttlMs - silentMs, 0);
  return `, silent for ${seconds(silentMs)}; another takes over in ${seconds(left)} at the latest`;
}

function until({ dueAt, now }: ItemView): string {
  const left = (dueAt ?? now) - now;
  return left <= 0 ? 'for a free worker' : `for ${seconds(left)}`;
}

function pace({ gateLimits }: ItemView): string {
  if (gateLimits === null) return '';
  const { concurrency, intervalMs } = gateLimits;
  const apart = intervalMs > 0 ? `, ${seconds(intervalMs)} apart` : '';
  const pages = concurrency === 1 ? 'one page is' : `${concurrency} pages are`;
  return `: ${pages} read at a time${apart}`;
}

function seconds(spanMs: number): string {
  if (spanMs < 1000) return `${Math.ceil(spanMs)} ms`;
  const whole = Math.ceil(spanMs / 1000);
  return whole < 120 ? `${whole} s` : `${Math.round(whole / 60)} min`;
}
