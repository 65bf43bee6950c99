/**
 * Applies a batch of reports in one transaction: the moves, what the steps wrote, the jobs' counts,
 * the events. A report from a holder that has been fenced off changes nothing but the history,
 * where it is written down as refused.
 */
import type { Lifecycle, Progress } from '../kernel/item.ts';
import type { NewEvent } from '../observe/event.ts';
import type { Transaction } from './database.ts';
import { appendEvents } from './events.ts';
import { admitAtGates } from './gates.ts';
import { JobDeltas, settleJobs } from './settle.ts';
import { type Advance, advance, type Leave, leave } from './transition.ts';

export interface Lease {
  readonly itemId: number;
  readonly jobId: number;
  readonly worker: string;
  readonly epoch: number;
  readonly rank: number;
  readonly gate: string | null;
}

/** Where the item goes. Everything but an advance short of the end gives the lease up. */
export type Move =
  | { readonly to: 'advance'; readonly progress: Progress }
  | { readonly to: 'time'; readonly dueAt: number; readonly attempt: number }
  | { readonly to: 'turn' }
  | { readonly to: 'failed'; readonly error: Readonly<Record<string, unknown>> };

export interface Usage {
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly costCents: number;
}

export interface Report {
  readonly lease: Lease;
  /** The progress that the reporter believes is stored. */
  readonly expect: Progress;
  readonly move: Move;
  readonly events: readonly NewEvent[];
  readonly usage?: Usage | undefined;
  readonly counts?: { readonly documents?: number; readonly chunks?: number } | undefined;
  /** What the step wrote, in the same transaction as the click. May add events of its own. */
  readonly effect?: ((transaction: Transaction) => Promise<readonly NewEvent[]>) | undefined;
}

export type Verdict = 'applied' | 'refused';

export async function applyReports(
  transaction: Transaction,
  { reports, lifecycle, now }: { reports: readonly Report[]; lifecycle: Lifecycle; now: number },
): Promise<Verdict[]> {
  const chains = inChains(reports);
  const applied = await moveItems(transaction, chains, lifecycle, now);
  const events: NewEvent[] = [];
  const deltas = new JobDeltas();
  const gates = new Set<string>();
  for (const report of reports) {
    if (!applied.has(report.lease)) {
      events.push(refusal(report));
      continue;
    }
    if (report.effect) events.push(...(await report.effect(transaction)));
    for (const event of report.events) events.push(event);
    count(deltas, report, lifecycle);
    if (report.lease.gate !== null) gates.add(report.lease.gate);
  }
  if (gates.size > 0) await admitAtGates(transaction, gates, now);
  for (const event of await settleJobs(transaction, deltas, now)) events.push(event);
  await appendEvents(transaction, events, now);
  return reports.map(({ lease }) => (applied.has(lease) ? 'applied' : 'refused'));
}

/**
 * Reports under one lease (of two branches, say) are one move: from what the first expects to where
 * the last leads. They stand or fall together, since they carry the same epoch.
 */
function inChains(reports: readonly Report[]): Report[] {
  const chains = new Map<Lease, Report>();
  for (const report of reports) {
    const before = chains.get(report.lease);
    chains.set(report.lease, before ? chain(before, report) : report);
  }
  return [...chains.values()];
}

function chain(first: Report, second: Report): Report {
  return { ...second, expect: first.expect, usage: sum(first.usage, second.usage) };
}

function sum(first: Usage | undefined, second: Usage | undefined): Usage | undefined {
  if (!first || !second) return first ?? second;
  return {
    tokensIn: first.tokensIn + second.tokensIn,
    tokensOut: first.tokensOut + second.tokensOut,
    costCents: first.costCents + second.costCents,
  };
}

/** Moves the items, and returns the leases that still held. */
async function moveItems(
  transaction: Transaction,
  chains: readonly Report[],
  lifecycle: Lifecycle,
  now: number,
): Promise<ReadonlySet<Lease>> {
  const leaving = chains.filter((report) => leaves(report, lifecycle));
  const staying = chains.filter((report) => !leaves(report, lifecycle));
  const stayed = await advance(
    transaction,
    staying.map((report) => toAdvance(report, lifecycle)),
    now,
  );
  const left = await leave(
    transaction,
    leaving.map((report) => toLeave(report, lifecycle, now)),
    now,
  );
  return new Set([
    ...staying.filter((_, index) => stayed[index]).map(({ lease }) => lease),
    ...leaving.filter((_, index) => left[index]).map(({ lease }) => lease),
  ]);
}

function leaves({ move }: Report, lifecycle: Lifecycle): boolean {
  return move.to !== 'advance' || move.progress === lifecycle.complete;
}

function toAdvance(report: Report, lifecycle: Lifecycle): Advance {
  const { lease, move, usage, expect } = report;
  const progress = move.to === 'advance' ? move.progress : expect;
  return {
    id: lease.itemId,
    epoch: lease.epoch,
    expect,
    progress,
    step: move.to === 'failed' ? 'failed' : lifecycle.stepOf(progress),
    gate: lease.gate,
    gateHeld: lease.gate !== null && move.to === 'turn' && !isPastGate(progress, lifecycle),
    tokensIn: usage?.tokensIn ?? 0,
    tokensOut: usage?.tokensOut ?? 0,
    costCents: usage?.costCents ?? 0,
  };
}

/** The gate guards the first step: the one that goes out to the domain. */
function isPastGate(progress: Progress, lifecycle: Lifecycle): boolean {
  return (progress & gateBit(lifecycle)) !== 0;
}

export function gateBit(lifecycle: Lifecycle): Progress {
  return lifecycle.bit(lifecycle.steps[0]?.step ?? '');
}

function toLeave(report: Report, lifecycle: Lifecycle, now: number): Leave {
  const { move } = report;
  return {
    ...toAdvance(report, lifecycle),
    rank: report.lease.rank,
    waitsOn: move.to === 'time' || move.to === 'turn' ? move.to : null,
    dueAt: move.to === 'time' ? move.dueAt : null,
    attempt: move.to === 'time' ? move.attempt : 0,
    error: move.to === 'failed' ? JSON.stringify(move.error) : null,
    failedAt: move.to === 'failed' ? now : null,
  };
}

function count(deltas: JobDeltas, report: Report, lifecycle: Lifecycle): void {
  const { move, usage, counts, lease } = report;
  const isDone = move.to === 'advance' && move.progress === lifecycle.complete;
  if (move.to === 'turn' || (move.to === 'advance' && !isDone && !usage && !counts)) return;
  const delta = deltas.of(lease.jobId);
  if (isDone) delta.done++;
  if (move.to === 'failed') delta.failed++;
  if (move.to === 'time') delta.waiting++;
  delta.documents += counts?.documents ?? 0;
  delta.chunks += counts?.chunks ?? 0;
  delta.tokensIn += usage?.tokensIn ?? 0;
  delta.tokensOut += usage?.tokensOut ?? 0;
  delta.costCents += usage?.costCents ?? 0;
}

function refusal({ lease, move }: Report): NewEvent {
  return {
    kind: 'report_refused',
    jobId: lease.jobId,
    itemId: lease.itemId,
    worker: lease.worker,
    detail: { reason: `epoch ${lease.epoch} has been taken over`, move: move.to },
  };
}
