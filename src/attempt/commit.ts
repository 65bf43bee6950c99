/**
 * `atomic_text_commit`: the sources, their text and their chunks become durable in one transaction,
 * the whole batch or nothing. The bytes are stored before; without the transaction nothing refers
 * to them. For a mail with files only the bytes are stored: its item reads it again, since the
 * transaction that reads a mail also adds its files to the job.
 */
import type { BlobStore } from '../blob/blob.ts';
import type { Commands } from '../engine/command/commands.ts';
import { limits } from '../kernel/limits/limits.ts';
import { getJob } from '../store/job/jobs.ts';
import type { ParsedSource } from '../store/job/submit-parsed.ts';
import { forEach, type PhaseContext, pathOfBytes, readWorkFile } from './phases.ts';
import type { Batch, Work } from './staging/item-batch.ts';

export interface CommitContext extends PhaseContext {
  readonly blobs: BlobStore;
  readonly commands: Pick<Commands, 'submitParsed'>;
  /** The same for every try, so that a retry cannot create a second job. */
  readonly jobKey: string;
  /** Throws once the attempt may no longer store anything. */
  readonly check: () => void;
}

/** Returns the number of documents in the job; 0 if there was none to commit. */
export async function commitText(context: CommitContext): Promise<number> {
  const { batch, blobs, caller, commands, corpus, reader, jobKey, check } = context;
  const ready = batch.works.filter(isReady);
  // An earlier try may have committed although its response was lost.
  if (ready.length === 0 || (await getJob(reader, jobKey))) return ready.length;
  await forEach(ready, context, async ({ staged }) => {
    await blobs.put(await readWorkFile(pathOfBytes(staged, context)));
  });
  check();
  const priority = limits.fairness.priorityDefault;
  const sources = ready.map((work) => parsedSource(work, batch));
  await commands
    .submitParsed({ key: jobKey, caller, corpus, priority, sources, check })
    .catch(async (error) => {
      if (!(await getJob(reader, jobKey))) throw error;
    });
  return ready.length;
}

/** A source that has completed all phases. */
type ReadyWork = Work & Required<Pick<Work, 'taken' | 'text' | 'cut'>>;

export function isReady(work: Work): work is ReadyWork {
  return !!work.taken && !!work.text && !!work.cut && !work.failure;
}

function parsedSource({ staged, taken, text, cut }: ReadyWork, batch: Batch): ParsedSource {
  const { id, kind, source } = staged;
  const { title, language, contentHash, meta, metadata = null } = text;
  return {
    kind,
    source,
    title,
    language,
    contentHash,
    meta,
    metadata,
    blobKey: taken.hash,
    mediaType: taken.mediaType,
    bytes: taken.bytes,
    isReadByItem: text.attachments > 0,
    durationMs: { fetched: taken.ms, content_extracted: text.ms, chunked: cut.ms },
    read: async () => ({ body: await batch.readText(id), chunks: await batch.readChunks(id) }),
  };
}
