/**
 * `indexed`: writes the search rows and makes the generation current, in one transaction. Until
 * then readers see the old generation, afterwards the new one.
 */
import { mergeTexts } from '../../kernel/metadata/metadata.ts';
import type { NewEvent } from '../../observe/event.ts';
import type { Sink } from '../../sink/sink.ts';
import { checkChunking } from '../../store/corpus/rechunking.ts';
import { recordDeliveries, type SinkDelivery } from '../../store/delivery/sinks.ts';
import { indexGeneration } from '../../store/document/chunks.ts';
import { listTexts } from '../../store/document/contents.ts';
import { type Flip, flip, flipChunks, type TextRow } from '../../store/document/documents.ts';
import { pruneReplaced, removeGoneAttachments } from '../../store/document/prune.ts';
import { type AnalyzedWords, writeWords } from '../../store/search/words.ts';
import { chunksOfRun } from '../chunk/chunk.ts';
import { type CompleteVectors, completeVectors } from '../embed/complete.ts';
import type { EmbedOptions } from '../embed/embed.ts';
import { keptShareOf } from '../extract/parsed.ts';
import {
  deliver,
  readDocumentState,
  settleDocument,
  storedGeneration,
} from '../persist/deliver.ts';
import { headOf } from '../persist/persist.ts';
import type { PipelineItem, StepContext, StepFunction, StepResult } from '../pipeline.ts';
import { endWithoutText } from '../pruned-text.ts';
import { mayBeMail, textOf } from '../step-memory.ts';
import { analyzedWords } from '../word/analyzed-words.ts';
import { WordPacker } from '../word/word-packer.ts';

export function indexStep(options: EmbedOptions, sinks: readonly Sink[] = []): StepFunction {
  const packer = new WordPacker();
  return async (context) => {
    const text = await textOf(context);
    if (!text) return endWithoutText(context);
    const vectors = await completeVectors(context, options);
    const delivered = await deliverAdded(context, sinks, { text, vectors });
    const chunks =
      (await chunksOfRun(context)) ?? (await listTexts(context.reader, [context.item.id]));
    const words = await analyzedWords(chunks, text, packer);
    return flipTo(context, text, { ...vectors, delivered, chunkCount: chunks.length, words });
  };
}

/** Vectors that the corpus needs since `persisted` are also in the sinks before the flip. */
async function deliverAdded(
  { item, reader, signal }: StepContext,
  sinks: readonly Sink[],
  { text, vectors: { added } }: { text: TextRow; vectors: CompleteVectors },
): Promise<SinkDelivery[]> {
  const ofVectors = sinks.filter(({ keeps }) => keeps === 'vectors');
  if (added.length === 0 || ofVectors.length === 0) return [];
  const generation = storedGeneration(reader, headOf(item, text), added);
  const models = added.map(({ model }) => model);
  return deliver(ofVectors, { generation, models, signal });
}

/** What a flip writes for a generation. */
interface Parts extends CompleteVectors {
  readonly delivered: readonly SinkDelivery[];
  readonly chunkCount: number;
  readonly words: AnalyzedWords;
}

function flipTo({ item }: StepContext, text: TextRow, parts: Parts): StepResult {
  return {
    ...parts.spent,
    counts: { documents: 1, chunks: parts.chunkCount },
    effect: async (transaction, now) => {
      await parts.write(transaction, now);
      await recordDeliveries(transaction, parts.delivered);
      await writeWords(transaction, item.id, parts.words);
      const row = rowOf(item, text, parts);
      const { copied_from } = text;
      const generation =
        typeof copied_from === 'number'
          ? await flipChunks(transaction, { ...row, copied_from })
          : await flip(transaction, row, now);
      if (generation !== undefined) {
        const { chunking = null } = text;
        await checkChunking(transaction, { ...item, chunking }, now);
      }
      indexGeneration(transaction, item.id);
      const kind = generation === undefined ? 'generation_superseded' : 'generation_flipped';
      const detail = { document_id: item.documentId, generation };
      const event: NewEvent = { kind, jobId: item.jobId, itemId: item.id, detail };
      return [event];
    },
  };
}

function rowOf(item: PipelineItem, text: TextRow, { chunkCount }: Parts): Flip {
  return {
    id: item.documentId,
    caller: item.caller,
    corpus: item.corpus,
    source: item.source,
    title: text.title,
    language: text.language,
    generation_id: item.id,
    content_hash: text.content_hash,
    chunk_count: chunkCount,
    text_bytes: Buffer.byteLength(text.body),
    kept_share: keptShareOf(JSON.parse(text.meta)),
    metadata: mergeTexts(text.metadata, item.metadata),
    chunking: text.chunking,
  };
}

/**
 * `done`: removes what the current generation has replaced, first from the sinks. Also removes
 * attachments that a mail no longer has.
 */
export function pruneStep(sinks: readonly Sink[] = []): StepFunction {
  return async (context) => {
    const { item, reader, signal } = context;
    if (sinks.length > 0) {
      await settleDocument(sinks, await readDocumentState(reader, item), signal);
    }
    return {
      effect: async (transaction) => {
        await pruneReplaced(transaction, item.documentId, item.id);
        return mayBeMail(context) ? removeGoneAttachments(transaction, item.documentId) : undefined;
      },
    };
  };
}
