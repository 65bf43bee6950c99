/**
 * Accepting documents that were read and cut before there was a job: their sources, their text and
 * their chunks go in with the job, in one commit. What is left of each is the work of an ordinary
 * item, which begins where the text ends.
 */

import type { Lifecycle, Progress } from '../../kernel/lifecycle/item.ts';
import { job as jobMachine } from '../../kernel/lifecycle/job.ts';
import { placeOf } from '../../kernel/name/corpus-name.ts';
import type { NewEvent } from '../../observe/event.ts';
import { getCorpusSettings } from '../corpus/settings.ts';
import { writeFetch } from '../crawl/fetches.ts';
import { appendEvents } from '../delivery/events.ts';
import { insertChunks, type NewChunk } from '../document/chunks.ts';
import { ensureCorpus, writeText } from '../document/documents.ts';
import { documentIdsOf } from '../document/names.ts';
import type { Database, Transaction } from '../driver/database.ts';
import { insertItems } from '../item/moves.ts';
import { insertJob } from './moves.ts';
import { reserveRanks } from './submit.ts';
import { JobDeltas, settleJobs } from './update-jobs.ts';

/** The steps that were done before the job, in their order. */
const doneBefore = ['fetched', 'content_extracted', 'chunked'] as const;

export interface ParsedSource {
  readonly kind: 'file' | 'url' | 'upload';
  readonly source: string;
  readonly title: string | null;
  readonly language: string | null;
  readonly contentHash: string;
  /** What the document says of itself, as JSON. */
  readonly meta: string;
  /** Its front matter as metadata, as JSON. */
  readonly metadata?: string | null;
  readonly blobKey: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** How long each step took. */
  readonly durationMs: Readonly<Record<(typeof doneBefore)[number], number>>;
  /** A mail with files: its item reads it again, and adds the files to the job as it does so. */
  readonly isReadByItem?: boolean | undefined;
  /** Brings the text and its chunks. It may be asked again, and answers the same. */
  read(): Promise<{ readonly body: string; readonly chunks: readonly NewChunk[] }>;
}

export interface ParsedSubmission {
  readonly key: string;
  readonly caller: string;
  readonly corpus: string;
  readonly priority: number;
  readonly sources: readonly ParsedSource[];
  /** Has the last word within the transaction: what it throws undoes everything. */
  readonly check: () => void;
}

type Clock = Pick<Database, 'now'>;

const accepted = { from: null, to: jobMachine.initial, reason: 'accepted' };

/** Returns the ids of the items, in the order of their sources. */
export async function insertParsed(
  transaction: Transaction,
  submission: ParsedSubmission,
  { lifecycle, database }: { readonly lifecycle: Lifecycle; readonly database: Clock },
): Promise<number[]> {
  const now = database.now();
  const { corpus, sources } = submission;
  const place = placeOf(submission);
  const documentIds = await documentIdsOf(transaction, place, namesOf(sources));
  await ensureCorpus(transaction, place.corpus, now);
  const job = {
    ...submission,
    type: 'ingest' as const,
    url: sources[0]?.source ?? null,
    force: false,
    itemsTotal: sources.length,
    now,
  };
  const jobId = await insertJob(transaction, job);
  const firstRank = await reserveRanks(transaction, { ...job, id: jobId }, sources.length);
  const { chunking } = await getCorpusSettings(transaction, place);
  const steps = reachedSteps(lifecycle, chunking);
  const reachedBy = ({ isReadByItem = false }: ParsedSource): Reached =>
    isReadByItem ? steps.filter((step) => step === 'fetched') : steps;
  const progressOf = (source: ParsedSource): Progress =>
    reachedBy(source).reduce((set, step) => lifecycle.reach(set, step), 0);
  const ids = await insertItems(
    transaction,
    { ...job, id: jobId },
    sources.map((source, index) => ({
      documentId: documentIds[index] as string,
      sourceKind: source.kind,
      source: source.source,
      // What was fetched has nothing to wait for at the gate of its domain.
      gate: null,
      rank: firstRank + index,
      progress: progressOf(source),
      step: lifecycle.stepOf(progressOf(source)),
    })),
  );
  const detail = { ...accepted, corpus, items: sources.length };
  const events: NewEvent[] = [{ kind: 'job_accepted', jobId, attempt: 1, detail }];
  const deltas = new JobDeltas();
  for (const [index, source] of sources.entries()) {
    const id = ids[index] as number;
    const document = { id, jobId, documentId: documentIds[index] as string, chunking };
    const reached = reachedBy(source);
    const parsed = { ...document, source, reached, now };
    const { chunks, tokens } = await writeParsed(transaction, parsed);
    deltas.of(jobId).tokens += tokens;
    events.push(...reached.map((step) => completed(document, step, { source, chunks })));
  }
  events.push(...(await settleJobs(transaction, deltas, now)));
  await appendEvents(transaction, events, now);
  submission.check();
  return ids;
}

function namesOf(sources: readonly ParsedSource[]): string[] {
  return sources.map(({ source }) => source);
}

type Reached = readonly (typeof doneBefore)[number][];

/**
 * Where a step was added before one of these, it has not been done: the item begins there, and does
 * what follows itself. The chunks have the default sizes: for other ones the item splits the text.
 */
function reachedSteps(lifecycle: Lifecycle, chunking: string | null): Reached {
  const reached: string[] = [];
  const done = doneBefore.filter((step) => step !== 'chunked' || chunking === null);
  return done.filter((step) => {
    const isReached = lifecycle.row(step).after.every((before) => reached.includes(before));
    if (isReached) reached.push(step);
    return isReached;
  });
}

interface ParsedDocument {
  readonly id: number;
  readonly documentId: string;
  readonly source: ParsedSource;
  readonly reached: Reached;
  readonly chunking: string | null;
  readonly now: number;
}

/** Returns how many chunks were written, and their tokens. */
async function writeParsed(
  transaction: Transaction,
  { id, documentId, source, reached, chunking, now }: ParsedDocument,
): Promise<{ readonly chunks: number; readonly tokens: number }> {
  const none = { chunks: 0, tokens: 0 };
  await writeFetch(transaction, {
    generation_id: id,
    blob_key: source.blobKey,
    media_type: source.mediaType,
    bytes: source.bytes,
    charset: null,
    body: null,
    packed: null,
  });
  if (!reached.includes('content_extracted')) return none;
  const { body, chunks } = await source.read();
  const text = {
    generation_id: id,
    document_id: documentId,
    title: source.title,
    language: source.language,
    body,
    content_hash: source.contentHash,
    meta: source.meta,
    metadata: source.metadata ?? null,
    chunking,
  };
  await writeText(transaction, text, now);
  if (!reached.includes('chunked')) return none;
  await insertChunks(transaction, { documentId, generationId: id }, chunks);
  const tokens = chunks.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
  return { chunks: chunks.length, tokens };
}

function completed(
  item: { readonly id: number; readonly jobId: number },
  step: Reached[number],
  { source, chunks }: { readonly source: ParsedSource; readonly chunks: number },
): NewEvent {
  return {
    kind: 'step_completed',
    jobId: item.jobId,
    itemId: item.id,
    step,
    attempt: 1,
    detail: { duration_ms: source.durationMs[step], ...(step === 'chunked' && { chunks }) },
  };
}
