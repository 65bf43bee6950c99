/**
 * The work of each phase before the commit: sources are read and checked, parsed, and chunked. A
 * phase ends before the next begins. A failed source is skipped with its reason; a failure that
 * affects all of them, such as a full disk, ends the run.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Failure, type FailureCode, toFailure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { metadataText } from '../kernel/metadata/metadata.ts';
import { placeOf } from '../kernel/name/corpus-name.ts';
import type { World } from '../kernel/world.ts';
import type { Chunker } from '../pipeline/chunk/chunker.ts';
import { type ExtractInput, extract, hashOf, metaOf } from '../pipeline/extract/extract.ts';
import type { Parser } from '../pipeline/extract/parsed.ts';
import { withPages } from '../pipeline/page-starts.ts';
import type { PreviewSource } from '../pipeline/preview.ts';
import { listSameBytes } from '../store/crawl/fetches.ts';
import { getCurrent } from '../store/document/contents.ts';
import { documentIdsOf } from '../store/document/names.ts';
import type { Reader } from '../store/driver/database.ts';
import type { Batch, Taken, Work } from './staging/item-batch.ts';
import { isToBeRead, planFor, type SourceFailure } from './staging/plan.ts';
import type { StagedSource, Staging } from './staging/staging.ts';
import { workspaceFailure } from './staging/workspace.ts';

export interface PhaseContext {
  readonly batch: Batch;
  readonly caller: string;
  readonly corpus: string;
  /** Aborted when the attempt is asked to stop; ends running work. */
  readonly signal: AbortSignal;
  readonly staging: Pick<Staging, 'pathOf'>;
  readonly read: (source: PreviewSource, signal: AbortSignal) => Promise<ExtractInput>;
  readonly parser: Parser;
  readonly chunker: Chunker;
  readonly reader: Reader;
  readonly world: Pick<World, 'now'>;
}

/** Reads a source, detects its type, size and whether it is new, and plans its processing. */
export async function preflight(context: PhaseContext): Promise<void> {
  const { batch } = context;
  const isNew = ({ taken, plan }: Work): boolean => !taken && !plan;
  await forEach(batch.works.filter(isNew), context, (work) => take(work, context));
  const taken = batch.works.flatMap((work) =>
    work.taken && !work.plan ? [{ ...work, taken: work.taken }] : [],
  );
  const known = await lookUp(taken, context);
  const inBatch = new Map<string, string>();
  for (const { staged, taken: found } of taken) {
    const { source, name } = staged;
    const sameInBatch = inBatch.get(found.hash);
    const plan = planFor({ source, sameInBatch, ...known(staged, found) });
    if (isToBeRead(plan)) inBatch.set(found.hash, name);
    batch.change(staged.id, { plan });
  }
}

async function take({ staged }: Work, context: PhaseContext): Promise<void> {
  const { batch, signal, world } = context;
  const startedAt = world.now();
  const input = await settled(signal, () => readStaged(staged, context));
  if ('code' in input) {
    batch.change(staged.id, { plan: { do: 'refuse', failure: input } });
    return;
  }
  const { bytes, mediaType } = input;
  // From now on these bytes count, even if the file or page changes.
  if (staged.kind !== 'upload') await batch.writeBytes(staged.id, bytes);
  const hash = createHash('sha256').update(bytes).digest('hex');
  const ms = world.now() - startedAt;
  batch.change(staged.id, { taken: { hash, bytes: bytes.length, mediaType, ms } });
}

async function readStaged(staged: StagedSource, context: PhaseContext): Promise<ExtractInput> {
  const { kind, name, source, gate } = staged;
  const { read, signal, staging } = context;
  if (kind !== 'upload') return read({ kind, source, gate }, signal);
  const bytes = await readWorkFile(staging.pathOf(staged.id));
  return read({ kind: 'bytes', source: name, bytes }, signal);
}

async function lookUp(taken: readonly (Work & { taken: Taken })[], context: PhaseContext) {
  const { reader } = context;
  const { caller, corpus } = placeOf(context);
  const blobKeys = [...new Set(taken.map((work) => work.taken.hash))];
  const names = taken.map(({ staged }) => staged.source);
  const ids = await documentIdsOf(reader, { caller, corpus }, names);
  const idOf = new Map(names.map((name, index) => [name, ids[index] as string]));
  const current = await getCurrent(reader, { caller, corpus, ids });
  const same = await listSameBytes(reader, { caller, corpus, blobKeys });
  const inCorpus = new Set(current.map(({ id }) => id));
  return (staged: StagedSource, { hash }: Taken) => ({
    isInCorpus: inCorpus.has(idOf.get(staged.source) ?? ''),
    sameBytes: same.flatMap((row) => (row.blob_key === hash ? [row.source] : [])),
  });
}

export async function parseSources(context: PhaseContext): Promise<void> {
  const { batch } = context;
  await forEach(batch.works.filter(isUnread), context, (work) => parseOne(work, context));
  const bytes = batch.works.reduce((sum, { text }) => sum + (text?.bytes ?? 0), 0);
  if (bytes <= limits.attempt.textBytesMax) return;
  const bound = `${limits.attempt.textBytesMax} bytes of text at once`;
  const message = `an attempt takes up to ${bound}, and this one has ${bytes}: remove some sources`;
  throw new Failure('payload_too_large', message);
}

export function isUnread({ plan, text, failure }: Work): boolean {
  return isToBeRead(plan) && !text && !failure;
}

async function parseOne({ staged, taken }: Work, context: PhaseContext): Promise<void> {
  const { batch, parser, signal, world } = context;
  const startedAt = world.now();
  const bytes = await readWorkFile(pathOfBytes(staged, context));
  const { name: source } = staged;
  const mediaType = taken?.mediaType ?? '';
  const found = await settled(signal, () => extract({ bytes, mediaType, source }, parser, signal));
  if ('code' in found) {
    batch.change(staged.id, { failure: found });
    return;
  }
  const { title, language, text } = found;
  await batch.writeText(staged.id, text);
  const facts = {
    title,
    language,
    contentHash: hashOf(found),
    meta: metaOf(found),
    metadata: metadataText(found.metadata),
    attachments: found.attachments?.length ?? 0,
    bytes: Buffer.byteLength(text),
  };
  batch.change(staged.id, { text: { ...facts, ms: world.now() - startedAt } });
}

export async function splitSources(context: PhaseContext): Promise<void> {
  const { batch } = context;
  const isToDo = ({ text, cut: done, failure }: Work): boolean => !!text && !done && !failure;
  await forEach(batch.works.filter(isToDo), context, (work) => splitOne(work, context));
}

async function splitOne(
  { staged: { id }, text: facts }: Work,
  context: PhaseContext,
): Promise<void> {
  const { batch, chunker, signal, world } = context;
  const startedAt = world.now();
  const text = await batch.readText(id);
  const found = await settled(signal, () => chunker(text, signal));
  if ('code' in found) {
    batch.change(id, { failure: found });
    return;
  }
  await batch.writeChunks(id, withPages(found, JSON.parse(facts?.meta ?? '{}')));
  batch.change(id, { cut: { chunks: found.length, ms: world.now() - startedAt } });
}

export function pathOfBytes(
  { id, kind }: StagedSource,
  { batch, staging }: Pick<PhaseContext, 'batch' | 'staging'>,
): string {
  return kind === 'upload' ? staging.pathOf(id) : batch.bytesPath(id);
}

export async function readWorkFile(path: string): Promise<Uint8Array> {
  return readFile(path).catch((error) => {
    throw workspaceFailure('read', error);
  });
}

/** Bounded concurrency, no new work after a stop. Resolves only when no work is running. */
export async function forEach(
  works: readonly Work[],
  { signal }: { readonly signal: AbortSignal },
  run: (work: Work) => Promise<void>,
): Promise<void> {
  const left = works.values();
  let hasFailed = false;
  const runSome = async (): Promise<void> => {
    for (const work of left) {
      if (hasFailed) return;
      signal.throwIfAborted();
      await run(work);
    }
  };
  const lanes = Array.from({ length: limits.attempt.sourcesAtOnceMax }, () =>
    runSome().catch((error) => {
      hasFailed = true;
      throw error;
    }),
  );
  for (const lane of await Promise.allSettled(lanes)) {
    if (lane.status === 'rejected') throw lane.reason;
  }
}

/** Failures of the machine, not of the source. */
const machineFailures: readonly FailureCode[] = [
  ...(['storage_full', 'storage_failed', 'machine_busy', 'store_busy'] as const),
];

/** The result, or why this source has none. Throws if the attempt stops or cannot continue. */
async function settled<T extends object>(
  signal: AbortSignal,
  run: () => Promise<T>,
): Promise<T | SourceFailure> {
  signal.throwIfAborted();
  try {
    return await run();
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = toFailure(error);
    if (machineFailures.includes(code)) throw error;
    return { code, message };
  }
}
