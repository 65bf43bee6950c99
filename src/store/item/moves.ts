/**
 * The writers of an item's state (`step`, `waits_on`, `epoch`): this file for the moves of its
 * holder, `interventions.ts` and `lost-leases.ts` for all others. The moves are the table
 * `itemMoves`, compiled by `compile-move.ts`: each statement is a compare-and-set on the place, the
 * epoch and the progress that the writer believes, so a writer that is out of date changes nothing.
 *
 * These functions change states and nothing else. Their callers append the events, and admit the
 * next item at a gate, in the same transaction.
 */
import { firstState, noProgress, type Progress } from '../../kernel/lifecycle/item.ts';
import {
  type ItemMoveName,
  type MoveTarget,
  place,
  type WaitsOn,
} from '../../kernel/lifecycle/item-wait.ts';
import type { StepService } from '../../kernel/lifecycle/stage.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Transaction } from '../driver/database.ts';
import { sql, sqlRows } from '../driver/statement.ts';
import type { NewJob } from '../job/moves.ts';
import { compileMove } from './compile-move.ts';
import { type FreeSlots, popWithFreeSlot } from './free-slots.ts';
import { enqueueSuspects, popSuspect, popTurns, recordClaim, stand } from './queues.ts';

export interface NewItem {
  readonly documentId: string;
  readonly sourceKind: string;
  readonly source: string;
  readonly gate: string | null;
  readonly rank: number;
  /** Metadata that the submitter stated, as JSON. */
  readonly metadata?: string | null | undefined;
  /** What was done before the item was inserted, and the step that follows from it. */
  readonly progress?: Progress;
  readonly step?: string;
}

const insertItemRow = sqlRows({
  job_id: 'int',
  caller: 'text',
  corpus: 'text',
  document_id: 'text',
  source_kind: 'text',
  source: 'text',
  force: 'int',
  gate: 'text',
  step: 'text',
  progress: 'int',
  waits_on: 'text',
  rank: 'int',
  metadata: 'text',
  now: 'int',
})<{ id: number; rank: number }>`
  INSERT INTO items (job_id, caller, corpus, document_id, source_kind, source, force, gate, step,
    progress, waits_on, rank, metadata, created_at, moved_at)
  SELECT :job_id, :caller, :corpus, :document_id, :source_kind, :source, :force, :gate, :step,
    :progress, :waits_on, :rank, :metadata, :now, :now {rows}
  RETURNING id, rank`;

/** Inserts the items of a job and returns their ids in the given order. */
export async function insertItems(
  transaction: Transaction,
  job: Pick<NewJob, 'caller' | 'corpus' | 'force' | 'now'> & { readonly id: number },
  items: readonly NewItem[],
): Promise<number[]> {
  const rows = await transaction.each(
    insertItemRow,
    items.map((item) => ({
      job_id: job.id,
      caller: job.caller,
      corpus: job.corpus,
      document_id: item.documentId,
      source_kind: item.sourceKind,
      source: item.source,
      force: job.force ? 1 : 0,
      gate: item.gate,
      step: item.step ?? firstState,
      progress: item.progress ?? noProgress,
      waits_on: waitOfNew(item),
      rank: item.rank,
      metadata: item.metadata ?? null,
      now: job.now,
    })),
  );
  const idByRank = new Map(rows.map(({ id, rank }) => [rank, id]));
  const ids = items.map(({ rank }) => idByRank.get(rank) as number);
  await stand(
    transaction,
    items.map((item, index) => ({
      id: ids[index] as number,
      rank: item.rank,
      gate: item.gate,
      waitsOn: waitOfNew(item),
      dueAt: null,
    })),
  );
  return ids;
}

function waitOfNew({ gate }: NewItem): MoveTarget<'submit'> {
  return gate === null ? place.turn : place.gate;
}

export interface ClaimedRow {
  readonly id: number;
  readonly job_id: number;
  readonly caller: string;
  readonly corpus: string;
  readonly document_id: string;
  readonly source_kind: string;
  readonly source: string;
  readonly force: number;
  readonly gate: string | null;
  readonly gate_held: number;
  readonly progress: number;
  readonly rank: number;
  readonly epoch: number;
  readonly attempt: number;
  readonly crashes: number;
  readonly metadata: string | null;
  /** The service where it has a place; undefined where the claim did not ask. */
  readonly service?: StepService | undefined;
}

const claiming = compileMove('claim');
const claimRows = sql<ClaimedRow, 'worker' | 'ids' | 'now' | 'crashes_below'>`
  UPDATE items SET ${claiming.set}, worker = :worker, moved_at = :now
  WHERE id {amongIds} AND crashes < :crashes_below AND ${claiming.where}
  RETURNING id, job_id, caller, corpus, document_id, source_kind, source, force, gate, gate_held,
    progress, rank, epoch, attempt, crashes, metadata`;

export interface Claim {
  readonly worker: string;
  readonly now: number;
  /** Items that may run beside each other, or one that must run alone. */
  readonly take:
    | { readonly count: number }
    | { readonly slots: FreeSlots }
    | { readonly suspectLoneDeathsMax: number };
}

/** How often a claim skips items of a job that was just stopped, or that have no place. */
const looksMax = 16;

/**
 * Leases the next items, in fair order, to the worker. Items of a job that was stopped in the
 * meantime leave the queue here; the sweep of their job moves them.
 */
export async function claim(
  transaction: Transaction,
  { worker, now, take }: Claim,
): Promise<ClaimedRow[]> {
  const isAlone = 'suspectLoneDeathsMax' in take;
  const crashesBelow = isAlone ? Number.MAX_SAFE_INTEGER : limits.suspect.crashesMin;
  for (let look = 0; look < looksMax; look++) {
    const { next, isLast } = await popNext(transaction, take);
    if (next.length === 0 && isLast) return [];
    if (next.length === 0) continue;
    const ids = JSON.stringify(next.map(({ id }) => id));
    const claimed = { worker, ids, now, crashes_below: crashesBelow };
    const rows = await transaction.run(claimRows, claimed);
    if (!isAlone && rows.length < next.length) await enqueueSuspects(transaction, ids);
    if (rows.length === 0) continue;
    await recordClaim(transaction, worker, JSON.stringify(rows.map(({ id }) => id)));
    const slots = new Map(next.map(({ id, service }) => [id, service]));
    return rows
      .map((row) => ({ ...row, service: slots.get(row.id) }))
      .sort((a, b) => a.rank - b.rank || a.id - b.id);
  }
  return [];
}

interface Next {
  readonly next: readonly { readonly id: number; readonly service?: StepService }[];
  /** Whether a second look would find no more. */
  readonly isLast: boolean;
}

async function popNext(transaction: Transaction, take: Claim['take']): Promise<Next> {
  if ('slots' in take) {
    const { withSlot, hasLooked } = await popWithFreeSlot(transaction, take.slots);
    return { next: withSlot, isLast: !hasLooked };
  }
  const ids =
    'count' in take
      ? await popTurns(transaction, take.count)
      : await popSuspect(transaction, take.suspectLoneDeathsMax);
  return { next: ids.map((id) => ({ id })), isLast: true };
}

export interface Advance {
  readonly id: number;
  readonly epoch: number;
  readonly expect: Progress;
  readonly step: string;
  readonly progress: Progress;
  readonly gate: string | null;
  readonly gateHeld: boolean;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly costCents: number;
}

const commitColumns = {
  id: 'int',
  epoch: 'int',
  expect: 'int',
  step: 'text',
  progress: 'int',
} as const;

const usageColumns = {
  gate_held: 'int',
  tokens_in: 'int',
  tokens_out: 'int',
  cost_cents: 'real',
} as const;

const asBelieved = ({ where }: { readonly where: string }): string =>
  `WHERE items.id = :id AND items.progress = :expect AND ${where} RETURNING items.id`;

const cleared = 'crashes = 0, lone_deaths = 0, stalls = 0';
const clearedByProgress = ['crashes', 'lone_deaths', 'stalls']
  .map((name) => `${name} = CASE WHEN items.progress = :progress THEN items.${name} ELSE 0 END`)
  .join(', ');

const advancing = compileMove('advance');

/**
 * Most commits of steps: nothing was paid, and no gate is held. An item that advances has killed no
 * worker at this step: a machine that loses many workers must not blame the items they held.
 */
const commitRow = sqlRows(commitColumns)<{ id: number }>`
  UPDATE items SET ${advancing.set}, progress = :progress, attempt = 0, error = NULL, ${cleared},
    moved_at = :now
  {rows} ${asBelieved(advancing)}`;

const advanceRow = sqlRows({ ...commitColumns, ...usageColumns })<{ id: number }>`
  UPDATE items SET ${advancing.set}, progress = :progress, attempt = 0, error = NULL, ${cleared},
    gate_held = :gate_held,
    tokens_in = items.tokens_in + :tokens_in, tokens_out = items.tokens_out + :tokens_out,
    cost_cents = items.cost_cents + :cost_cents, moved_at = :now
  {rows} ${asBelieved(advancing)}`;

/** Commits steps of items under their leases. False: the holder has been fenced off. */
export async function advance(
  transaction: Transaction,
  moves: readonly Advance[],
  now: number,
): Promise<boolean[]> {
  if (!moves.some(isMoreThanCommit)) return transaction.hits(commitRow, moves, { now });
  return transaction.hits(advanceRow, moves.map(usageValues), { now });
}

function isMoreThanCommit(move: Advance): boolean {
  return move.gate !== null || move.tokensIn + move.tokensOut + move.costCents > 0;
}

function usageValues(move: Advance) {
  return {
    id: move.id,
    epoch: move.epoch,
    expect: move.expect,
    step: move.step,
    progress: move.progress,
    gate_held: move.gateHeld ? 1 : 0,
    tokens_in: move.tokensIn,
    tokens_out: move.tokensOut,
    cost_cents: move.costCents,
  };
}

function isMoreThanEnd(move: Leave): boolean {
  return move.move !== 'finish' || isMoreThanCommit(move);
}

/** The moves by which a holder gives up its lease. */
export const leavingMoves = [
  'finish',
  'delay',
  'give_back',
  'defer',
  'fail',
] as const satisfies readonly ItemMoveName[];

export interface Leave extends Advance {
  readonly move: (typeof leavingMoves)[number];
  readonly rank: number;
  /** What the item waits on after the move; null where it has ended. */
  readonly waitsOn: WaitsOn | null;
  readonly service?: StepService | undefined;
  readonly dueAt: number | null;
  /** Failed tries of the present step; null: as stored, unless a step was reached. */
  readonly attempt: number | null;
  readonly error: string | null;
  readonly failedAt: number | null;
}

const leaving = compileMove(leavingMoves, ':waits_on');
const finishing = compileMove('finish');
const isAsBefore = ':attempt IS NULL AND items.progress = :progress';

const leaveRow = sqlRows({
  ...commitColumns,
  ...usageColumns,
  waits_on: 'text',
  due_at: 'int',
  attempt: 'int',
  error: 'json',
  failed_at: 'int',
})<{ id: number }>`
  UPDATE items SET ${leaving.set}, progress = :progress, worker = NULL, due_at = :due_at,
    gate_held = :gate_held,
    attempt = CASE WHEN ${isAsBefore} THEN items.attempt ELSE COALESCE(:attempt, 0) END,
    error = CASE WHEN ${isAsBefore} THEN items.error ELSE :error END,
    failed_at = :failed_at, ${clearedByProgress},
    tokens_in = items.tokens_in + :tokens_in, tokens_out = items.tokens_out + :tokens_out,
    cost_cents = items.cost_cents + :cost_cents, moved_at = :now
  {rows} ${asBelieved(leaving)}`;

/** Most ends: all steps are done, and nothing was paid with the last. */
const finishRow = sqlRows(commitColumns)<{ id: number }>`
  UPDATE items SET ${finishing.set}, progress = :progress, worker = NULL, attempt = 0, error = NULL,
    moved_at = :now
  {rows} ${asBelieved(finishing)}`;

/** Makes moves that give up the lease. False: the holder has been fenced off. */
export async function leave(
  transaction: Transaction,
  moves: readonly Leave[],
  now: number,
): Promise<boolean[]> {
  if (!moves.some(isMoreThanEnd)) return transaction.hits(finishRow, moves, { now });
  const hits = await transaction.hits(
    leaveRow,
    moves.map((move) => ({
      ...usageValues(move),
      waits_on: move.waitsOn,
      due_at: move.dueAt,
      attempt: move.attempt,
      error: move.error,
      failed_at: move.failedAt,
    })),
    { now },
  );
  await stand(
    transaction,
    moves.filter((_, index) => hits[index]),
  );
  return hits;
}
