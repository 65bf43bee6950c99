/**
 * Applies a batch of reports in one transaction: the moves, what the steps wrote, the jobs' counts,
 * the events. A report from a holder that has been fenced off changes nothing but the history,
 * where it is written down as refused.
 */
import { isRetried, toFailure } from '../../kernel/failure/failure.ts';
import type { Lifecycle, Progress } from '../../kernel/lifecycle/item.ts';
import { isOpenPlace, itemMoves, place, waitAt } from '../../kernel/lifecycle/item-wait.ts';
import type { StepService } from '../../kernel/lifecycle/stage.ts';
import type { NewEvent } from '../../observe/event.ts';
import { appendEvents } from '../delivery/events.ts';
import type { Transaction } from '../driver/database.ts';
import { JobDeltas, settleJobs } from '../job/update-jobs.ts';
import { holdFences } from './fence.ts';
import { admitAtGates } from './gates.ts';
import { type Advance, advance, type Leave, leave, leavingMoves } from './moves.ts';

export interface Lease {
  readonly itemId: number;
  readonly jobId: number;
  readonly worker: string;
  readonly epoch: number;
  readonly rank: number;
  readonly gate: string | null;
}

/** What a step adds to the counters of its job. */
export interface StepCounts {
  /** Documents and chunks that search finds from this commit on, unless a newer one was quicker. */
  readonly documents?: number;
  readonly chunks?: number;
  readonly tokens?: number;
}

/** Where the item goes. Everything but an advance short of the end gives the lease up. */
export type Move =
  | { readonly to: 'advance'; readonly progress: Progress }
  | {
      readonly to: 'time';
      readonly dueAt: number;
      /** Tries of the step that have failed: those that were only told to wait do not count. */
      readonly attempt: number;
      /** What it waits after; absent where nothing failed. */
      readonly error?: Readonly<Record<string, unknown>> | undefined;
    }
  /** `service`: where it needs a place that was not free. */
  | { readonly to: 'turn'; readonly service?: StepService | undefined }
  /** Left to a batch task, which wakes the item when it ends. */
  | { readonly to: 'task' }
  | {
      readonly to: 'failed';
      /** All tries of the step, the last one included. */
      readonly attempt: number;
      readonly error: Readonly<Record<string, unknown>>;
    };

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
  readonly counts?: StepCounts | undefined;
  /** What the step writes, in the same transaction as the move. May add events of its own. */
  readonly effect?: ((transaction: Transaction) => Promise<readonly NewEvent[]>) | undefined;
}

/** What a step wanted to write was refused: the step has failed, and nothing else. */
export class EffectError extends Error {}

/** Trouble of the store itself is not the step's: the whole transaction may be run again. */
async function asEffect<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    const { code } = toFailure(cause);
    if (isRetried(code) && code !== 'replaced_meanwhile') throw cause;
    throw new EffectError('what the step wanted to write was refused', { cause });
  }
}

export type Verdict = 'applied' | 'refused';

export async function applyReports(
  transaction: Transaction,
  { reports, lifecycle, now }: { reports: readonly Report[]; lifecycle: Lifecycle; now: number },
): Promise<Verdict[]> {
  await holdFences(
    transaction,
    reports.map(({ lease }) => lease.jobId),
  );
  const chains = inChains(reports, lifecycle);
  const applied = new Set<Report>();
  for (const wave of inWaves([...chains.values()])) {
    const held = await moveItems(transaction, wave, lifecycle, now);
    for (const { links } of held) for (const link of links) applied.add(link);
  }
  const events: NewEvent[] = [];
  const deltas = new JobDeltas();
  const gates = new Set<string>();
  let hasEffects = false;
  for (const report of reports) {
    if (!applied.has(report)) {
      events.push(refusal(report));
      continue;
    }
    const { effect } = report;
    const written = effect ? await asEffect(() => effect(transaction)) : [];
    hasEffects ||= effect !== undefined;
    events.push(...written, ...report.events);
    count(deltas, report, lifecycle);
    if (!written.some(isSuperseding)) countIndexed(deltas, report);
    const { gate } = report.lease;
    // Only who had not passed the gate yet can have freed a place.
    if (gate !== null && !isPastGate(report.expect, lifecycle)) gates.add(gate);
  }
  if (hasEffects) await asEffect(() => transaction.sent());
  if (gates.size > 0) await admitAtGates(transaction, gates, now);
  for (const event of await settleJobs(transaction, deltas, now)) events.push(event);
  await appendEvents(transaction, events, now);
  return reports.map((report) => (applied.has(report) ? 'applied' : 'refused'));
}

/**
 * Reports under one lease (of two branches, say) are one move: from what the first expects to where
 * the last leads. They stand or fall together, since they carry the same epoch. A report that does
 * not continue where the one before it leads (a repeated one, say) is no link, and is refused.
 */
interface ChainReport extends Report {
  /** What all links but the last have reached. */
  readonly reached?: Progress;
}

interface Chain {
  readonly report: ChainReport;
  readonly links: readonly Report[];
}

function inChains(reports: readonly Report[], lifecycle: Lifecycle): ReadonlyMap<Lease, Chain> {
  const chains = new Map<Lease, Chain>();
  for (const report of reports) {
    const chain = chains.get(report.lease);
    if (!chain) chains.set(report.lease, { report, links: [report] });
    else if (goesOn(chain.report, report, lifecycle)) {
      chains.set(report.lease, {
        report: {
          ...report,
          expect: chain.report.expect,
          reached: report.expect,
          usage: sum(chain.report.usage, report.usage),
        },
        links: [...chain.links, report],
      });
    }
  }
  return chains;
}

/**
 * One item at a time: beside its holder's report there may be one of a holder that was fenced off.
 */
function inWaves(chains: readonly Chain[]): Chain[][] {
  const waves: Chain[][] = [];
  const seen = new Map<number, number>();
  for (const chain of chains) {
    const { itemId } = chain.report.lease;
    const place = seen.get(itemId) ?? 0;
    seen.set(itemId, place + 1);
    const wave = waves[place];
    if (wave) wave.push(chain);
    else waves.push([chain]);
  }
  return waves;
}

function goesOn(first: Report, second: Report, lifecycle: Lifecycle): boolean {
  return (
    first.move.to === 'advance' &&
    !leaves(first, lifecycle) &&
    first.move.progress === second.expect
  );
}

function sum(first: Usage | undefined, second: Usage | undefined): Usage | undefined {
  if (!first || !second) return first ?? second;
  return {
    tokensIn: first.tokensIn + second.tokensIn,
    tokensOut: first.tokensOut + second.tokensOut,
    costCents: first.costCents + second.costCents,
  };
}

/** Moves the items, and returns the chains whose leases still held. */
async function moveItems(
  transaction: Transaction,
  chains: readonly Chain[],
  lifecycle: Lifecycle,
  now: number,
): Promise<Chain[]> {
  const leaving = chains.filter(({ report }) => leaves(report, lifecycle));
  const staying = chains.filter(({ report }) => !leaves(report, lifecycle));
  const [stayed, left] = await Promise.all([
    advance(
      transaction,
      staying.map(({ report }) => toAdvance(report, lifecycle)),
      now,
    ),
    leave(
      transaction,
      leaving.map(({ report }) => toLeave(report, lifecycle, now)),
      now,
    ),
  ]);
  return [
    ...staying.filter((_, index) => stayed[index]),
    ...leaving.filter((_, index) => left[index]),
  ];
}

function leaves({ move }: Report, lifecycle: Lifecycle): boolean {
  return move.to !== 'advance' || move.progress === lifecycle.complete;
}

function toAdvance(report: ChainReport, lifecycle: Lifecycle): Advance {
  const { lease, move, usage, expect } = report;
  const progress = move.to === 'advance' ? move.progress : (report.reached ?? expect);
  return {
    id: lease.itemId,
    epoch: lease.epoch,
    expect,
    progress,
    step: lifecycle.stepOf(progress),
    gate: lease.gate,
    gateHeld: lease.gate !== null && move.to === place.turn && !isPastGate(progress, lifecycle),
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

function toLeave(report: ChainReport, lifecycle: Lifecycle, now: number): Leave {
  const { move } = report;
  const name = leavingMoveOf(move);
  const [target = place.done] = itemMoves[name].to;
  const advanced = toAdvance(report, lifecycle);
  return {
    ...advanced,
    move: name,
    step: isOpenPlace(target) ? advanced.step : target,
    rank: report.lease.rank,
    waitsOn: waitAt(target),
    service: move.to === place.turn ? move.service : undefined,
    dueAt: move.to === place.time ? move.dueAt : null,
    attempt: attemptAfter(move),
    error: 'error' in move && move.error ? JSON.stringify(move.error) : null,
    failedAt: target === place.failed ? now : null,
  };
}

/** The row of the table that leads there. An advance leaves only by the last step. */
function leavingMoveOf(move: Move): Leave['move'] {
  const target = move.to === 'advance' ? place.done : move.to;
  const found = leavingMoves.find((name) => itemMoves[name].to.includes(target));
  if (!found) throw new Error(`no move of a holder leads to ${target}`);
  return found;
}

/** Null: as many as before. To give an item back, or to defer it, is no failed try. */
function attemptAfter(move: Move): number | null {
  if (move.to === 'advance') return 0;
  return 'attempt' in move ? move.attempt : null;
}

function count(deltas: JobDeltas, report: Report, lifecycle: Lifecycle): void {
  const { move, usage, counts, lease } = report;
  const isDone = move.to === 'advance' && move.progress === lifecycle.complete;
  if (
    move.to === place.turn ||
    move.to === place.task ||
    (move.to === 'advance' && !isDone && !usage && !counts)
  )
    return;
  const delta = deltas.of(lease.jobId);
  if (isDone) delta.done++;
  if (move.to === place.failed) delta.failed++;
  if (move.to === place.time) {
    delta.waiting++;
    delta.lastError = move.error && JSON.stringify(move.error);
  }
  delta.tokens += counts?.tokens ?? 0;
  delta.tokensIn += usage?.tokensIn ?? 0;
  delta.tokensOut += usage?.tokensOut ?? 0;
  delta.costCents += usage?.costCents ?? 0;
}

/** The step indexed a generation that a newer one had replaced already: search never shows it. */
function isSuperseding({ kind }: NewEvent): boolean {
  return kind === 'generation_superseded';
}

function countIndexed(deltas: JobDeltas, { counts, lease }: Report): void {
  if (!counts?.documents && !counts?.chunks) return;
  const delta = deltas.of(lease.jobId);
  delta.documents += counts.documents ?? 0;
  delta.chunks += counts.chunks ?? 0;
}

const outdated =
  'has been taken over, its job was stopped, or it continues from a step that was not stored';

function refusal({ lease, move }: Report): NewEvent {
  return {
    kind: 'report_refused',
    jobId: lease.jobId,
    itemId: lease.itemId,
    worker: lease.worker,
    detail: { reason: `epoch ${lease.epoch} ${outdated}`, move: move.to },
  };
}
