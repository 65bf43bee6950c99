/**
 * Finds calls that were paid in vain. A step that begins after a response was committed must find
 * it. A step that began before may send the same request concurrently, and no check can prevent
 * that. Both moments are event numbers, which are in commit order: durations do not matter.
 */
export const paidSteps = ['embedded', 'entity_extracted'] as const;

export type PaidStep = (typeof paidSteps)[number];

export function isPaidStep(step: string): step is PaidStep {
  return (paidSteps as readonly string[]).includes(step);
}

/** A text whose response was in the store when the call came. */
export interface KeptAnswer {
  readonly source: number;
  /** The event that was committed with the response. */
  readonly seq: number;
}

export interface PaidCall {
  readonly pid: number;
  readonly at: number;
  readonly step: PaidStep;
  readonly texts: number;
  readonly kept: readonly KeptAnswer[];
}

interface Line {
  readonly pid: number;
  readonly itemId: number;
  readonly step: PaidStep;
  readonly source: number;
  readonly at: number;
}

/** What workers record of paid steps; `seq` is the last event at that time. */
export type DiaryLine =
  | (Line & { readonly kind: 'begun'; readonly seq: number })
  | (Line & { readonly kind: 'ended' });

export function callsPaidTwice(
  calls: readonly PaidCall[],
  diary: readonly DiaryLine[],
): PaidCall[] {
  return calls.filter((call) =>
    call.kept.some(({ source, seq }) => seq <= begunAfter(call, source, diary)),
  );
}

/** The event after which the step began; of several steps that may have called, the earliest. */
function begunAfter(call: PaidCall, source: number, diary: readonly DiaryLine[]): number {
  const open = new Map<number, number>();
  for (const line of diary) {
    const { pid, step, at, itemId } = line;
    if (pid !== call.pid || step !== call.step || line.source !== source || at > call.at) continue;
    if (line.kind === 'begun') open.set(itemId, line.seq);
    else open.delete(itemId);
  }
  return open.size === 0 ? Number.POSITIVE_INFINITY : Math.min(...open.values());
}
