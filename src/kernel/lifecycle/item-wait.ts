/**
 * What an open item waits on: the thing that is bound to move it. Every open item has exactly one,
 * and an ended item has none. An item that is open and has none could never move again, and
 * `pawl_items_without_forward_cause` counts those: it is 0.
 */
export const waits = ['turn', 'worker', 'time', 'gate', 'task', 'person'] as const;

export type WaitsOn = (typeof waits)[number];
