/**
 * What an open item waits on: the thing that is bound to move it. Every open item has exactly one,
 * and an ended item has none. An item that is open and has none could never move again, and
 * `pawl_items_without_forward_cause` counts those: it is 0.
 */
export const waits = ['turn', 'worker', 'time', 'gate', 'task', 'person'] as const;

export type WaitsOn = (typeof waits)[number];

/** What each means, in the words an operator reads. */
export const waitMeanings: Readonly<Record<WaitsOn, string>> = {
  turn: 'in the queue, for its turn',
  worker: 'leased by a worker, which is at work on it',
  time: 'for a time: its retry, or the end of a rate limit',
  gate: 'for a place: its domain is being read as often as is polite',
  task: 'for a batch task at a provider',
  person: 'for a person: its job is paused',
};
