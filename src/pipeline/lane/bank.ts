/**
 * What a batch brought for a step is banked before the step goes on: the answers that are of use
 * are kept, all are charged, and their lines are gone, in one commit. Whatever happens after it,
 * none of them is paid for again, by this document or by any other that asks the same.
 */
import { type BlobStore, getPart } from '../../blob/blob.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { dropFailedLines, type LineRow, takeLines } from '../../store/batch/lines.ts';
import { releaseReservation } from '../../store/money/budgets.ts';
import type { ResultRow } from '../../store/money/paid-answers.ts';
import type { Answer, PaidAnswers, Purchase } from '../paid-answers.ts';
import type { PipelineItem, StepContext, StepFunction, StepResult } from '../pipeline.ts';

/** What a batch says to one question. */
export interface Reply {
  readonly text?: string;
  readonly vector?: readonly number[];
  readonly language?: string;
  /** Of a recording. */
  readonly duration_ms?: number;
  readonly tokens_in?: number;
  readonly tokens_out?: number;
  readonly error?: string;
}

export interface Banking {
  readonly blobs: BlobStore;
  readonly paidAnswers: PaidAnswers;
  readonly purchase: Purchase;
  /** What is kept of a reply; throws a failure where the reply is of no use. */
  readonly read: (reply: Reply) => Uint8Array;
  /** What a reply costs, where it is not paid by its tokens. */
  readonly centsOf?: ((reply: Reply) => number | undefined) | undefined;
}

export type BankedItem = Pick<PipelineItem, 'id' | 'jobId' | 'payer' | 'source'>;

/** Keeps what has come for a step of an item, and charges for it. None of the lines is open. */
export type Bank = (item: BankedItem, lines: readonly LineRow[]) => Promise<Banked>;

/** A step of the cheap lane. */
export interface LaneStep {
  readonly run: StepFunction;
  /** The same that the step does first, for an item that is not about to run it. */
  readonly bank: Bank;
}

export interface Banked {
  /** What was paid for just now, by its key. */
  readonly paid: ReadonlyMap<string, ResultRow>;
  /** Why the step cannot go on: a line failed, or its reply is of no use. */
  readonly failure: Failure | undefined;
}

/**
 * The batch has not answered all of them: an item that was canceled or had run out of time, and is
 * retried, finds its questions still under way.
 */
export function isUnderWay(lines: readonly LineRow[]): boolean {
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
  readonly answer: Answer;
  readonly failure: Failure | undefined;
}

/** Some at a time: each is a file that is opened, or a request to a bucket. */
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

function rowOf({ key, value, tokens }: Answer): [string, ResultRow][] {
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

/** What was answered is kept by now; what failed goes, so that only that is asked for anew. */
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
