/**
 * Batch results for a step are stored before the step continues: in one commit, usable answers are
 * stored, all are charged, and their lines are deleted. After that commit, none of them is paid
 * again, by this document or by any other with the same request.
 */
import { type BlobStore, getPart } from '../../blob/blob.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { dropFailedLines, type LineRow, takeLines } from '../../store/batch/lines.ts';
import { releaseReservation } from '../../store/money/budgets.ts';
import type { ResultRow } from '../../store/money/paid-answers.ts';
import type { PaidAnswer, PaidAnswers, Purchase } from '../paid-answers.ts';
import type { PipelineItem, StepContext, StepFunction, StepResult } from '../pipeline.ts';

/** The response of a batch to one request. */
export interface Reply {
  readonly text?: string;
  readonly vector?: readonly number[];
  readonly language?: string;
  /** For a recording. */
  readonly duration_ms?: number;
  readonly tokens_in?: number;
  readonly tokens_out?: number;
  readonly error?: string;
}

export interface Banking {
  readonly blobs: BlobStore;
  readonly paidAnswers: PaidAnswers;
  readonly purchase: Purchase;
  /** The value to store; throws a failure if the response is unusable. */
  readonly read: (reply: Reply) => Uint8Array;
  /** The cost of a response, if it is not charged by tokens. */
  readonly centsOf?: ((reply: Reply) => number | undefined) | undefined;
}

export type BankedItem = Pick<PipelineItem, 'id' | 'jobId' | 'payer' | 'source'>;

/** Stores and charges the results for a step of an item. None of the lines is open. */
export type Bank = (item: BankedItem, lines: readonly LineRow[]) => Promise<Banked>;

/** A step of the batch lane. */
export interface LaneStep {
  readonly run: StepFunction;
  /** Does what the step does first, for an item that is not about to run it. */
  readonly bank: Bank;
}

export interface Banked {
  /** Answers that were just paid for, by key. */
  readonly paid: ReadonlyMap<string, ResultRow>;
  /** Why the step cannot continue: a line failed, or its response is unusable. */
  readonly failure: Failure | undefined;
}

/**
 * Whether the batch still has open requests: a retried item that was canceled or timed out may find
 * its requests still in progress.
 */
export function isInProgress(lines: readonly LineRow[]): boolean {
  return lines.some(({ status }) => status === 'open');
}

export async function bankLines(lines: readonly LineRow[], banking: Banking): Promise<Banked> {
  const failed = lines.find(({ status }) => status === 'failed');
  const refusal = failed && (await refusalOf(failed, banking.blobs));
  const came = lines.filter(({ status }) => status === 'ok');
  if (came.length === 0) return { paid: new Map(), failure: refusal };
  const read = await readLines(came, banking);
  const kept = await banking.paidAnswers.keepTaken(banking.purchase, async (transaction) => {
    const taken = new Set(
      await takeLines(
        transaction,
        read.map(({ id }) => id),
      ),
    );
    return read.flatMap(({ id, answer }) => (taken.has(id) ? answer : []));
  });
  const useless = read.find(({ failure }) => failure !== undefined)?.failure;
  return { paid: new Map(kept.flatMap(rowOf)), failure: refusal ?? useless };
}

interface ReadLine {
  readonly id: number;
  readonly answer: PaidAnswer;
  readonly failure: Failure | undefined;
}

/** A few at a time: each is an open file, or a request to a bucket. */
async function readLines(lines: readonly LineRow[], banking: Banking): Promise<ReadLine[]> {
  const read: ReadLine[] = [];
  const { concurrencyMax } = limits.batch;
  for (let start = 0; start < lines.length; start += concurrencyMax) {
    const some = lines.slice(start, start + concurrencyMax);
    read.push(...(await Promise.all(some.map((line) => readLine(line, banking)))));
  }
  return read;
}

async function readLine(line: LineRow, { blobs, read, centsOf }: Banking): Promise<ReadLine> {
  const reply = await replyOf(line, blobs);
  const reading = attempt(() => read(reply));
  const isUseless = reading instanceof Failure;
  const answer = {
    key: String(JSON.parse(line.request).key),
    value: isUseless ? undefined : reading,
    tokens: { input: reply.tokens_in ?? 0, output: reply.tokens_out ?? 0 },
    cents: centsOf?.(reply),
  };
  return { id: line.id, answer, failure: isUseless ? reading : undefined };
}

function attempt<T>(work: () => T): T | Failure {
  try {
    return work();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function rowOf({ key, value, tokens }: PaidAnswer): [string, ResultRow][] {
  return value ? [[key, { key, value, tokens: tokens.input, tokens_out: tokens.output }]] : [];
}

async function refusalOf(line: LineRow, blobs: BlobStore): Promise<Failure> {
  const { error = 'no result' } = await replyOf(line, blobs);
  return new Failure('provider_rejected', `the batch could not answer: ${error}`);
}

async function replyOf(line: LineRow, blobs: BlobStore): Promise<Reply> {
  const { result_key: key, result_at: at, result_bytes: bytes, error } = line;
  if (key === null || at === null || bytes === null) return { error: error ?? 'no result' };
  return JSON.parse(new TextDecoder().decode(await getPart(blobs, key, { at, bytes })));
}

/**
 * Good answers are stored by now. Failed lines are deleted, so that only they are requested again.
 */
export function refuse({ item }: StepContext, step: string, failure: Failure): StepResult {
  return {
    failure,
    effect: async (transaction) => {
      await dropFailedLines(transaction, item.id, step);
      await releaseReservation(transaction, { itemId: item.id, step });
      return undefined;
    },
  };
}
