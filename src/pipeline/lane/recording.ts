/**
 * Recordings in the cheap lane: `content_extracted` is left to a transcription task, and the
 * transcript becomes the text of the document. A recording that fails fails its item only.
 */
import type { BlobStore } from '../../blob/blob.ts';
import { Failure } from '../../kernel/failure.ts';
import { linesOfStep } from '../../store/batch-lines.ts';
import { getDocument } from '../../store/documents.ts';
import { type FetchRow, getFetch } from '../../store/fetches.ts';
import { extract, keepText, unchanged } from '../extract/extract.ts';
import { unsupported } from '../extract/format/unsupported.ts';
import type { Parser } from '../extract/parsed.ts';
import { isRecording } from '../fetch/media-type.ts';
import type { PipelineItem, StepContext, StepFunction, StepResult } from '../pipeline.ts';
import { answerOf, dropping, refuse } from './deferred.ts';

export interface RecordingLane {
  /** Who transcribes what stands at an address; undefined: nobody who is configured. */
  transcriberOf(address: string): string | undefined;
  /** What an hour of sound costs there, in cents, if it is known. */
  hourPriceOf(transcriber: string): { batch: number; normal: number } | undefined;
}

export interface RecordingOptions extends RecordingLane {
  readonly blobs: BlobStore;
  readonly parser: Parser;
  /** What the step is for all that is no recording. */
  readonly normal: StepFunction;
}

const step = 'content_extracted';

export function recordingStep(options: RecordingOptions): StepFunction {
  return async (context) => {
    const { item, reader } = context;
    const fetched = item.sourceKind === 'inline' ? undefined : await getFetch(reader, item.id);
    if (!fetched || !isRecording(fetched.media_type)) return options.normal(context);
    const [line] = await linesOfStep(reader, item.id, step);
    if (!line) return (await sameAsBefore(context, fetched)) ?? deferral(item, fetched, options);
    const { error, text = '', language, duration_ms } = await answerOf(line, options.blobs);
    if (error !== undefined) return refuse(context, step, error);
    if (text.trim() === '') return silent(context);
    const input = { bytes: Buffer.from(text), mediaType: 'text/plain', source: item.source };
    const extracted = await extract(input, options.parser, context.signal);
    const spoken = { ...extracted, language: language ?? extracted.language };
    const result = await keepText(context, spoken);
    const cost = costOf(duration_ms, options.hourPriceOf(line.model));
    return { ...result, model: line.model, ...cost, effect: dropping(context, step, result) };
  };
}

const hourMs = 3_600_000;

/** What was paid for this recording, and what the same would have cost at once. */
function costOf(
  duration: number | undefined,
  price: ReturnType<RecordingLane['hourPriceOf']>,
): Pick<StepResult, 'costCents' | 'detail'> {
  const heard = { lane: 'cheap', ...(duration !== undefined && { recording_ms: duration }) };
  if (price === undefined || duration === undefined) return { detail: heard };
  const hours = duration / hourMs;
  return {
    costCents: hours * price.batch,
    detail: { ...heard, normal_cost_cents: hours * price.normal },
  };
}

/** The line goes, so that a retry by a person has it transcribed anew. */
function silent(context: StepContext): StepResult {
  const message = `the transcript of ${context.item.source} has no words`;
  const failure = new Failure('no_usable_content', message);
  return { failure, effect: dropping(context, step, {}) };
}

/** The same bytes say the same: they are not paid for a second time. */
async function sameAsBefore(
  { item, reader }: StepContext,
  fetched: FetchRow,
): Promise<StepResult | undefined> {
  if (item.force) return undefined;
  const current = await getDocument(reader, item.documentId);
  const before = current && (await getFetch(reader, current.generation_id));
  return before?.blob_key === fetched.blob_key && current?.content_hash
    ? unchanged(item, current.content_hash)
    : undefined;
}

function deferral(
  item: PipelineItem,
  fetched: FetchRow,
  { transcriberOf }: RecordingLane,
): StepResult {
  for (const source of addressesOf(item, fetched)) {
    const model = transcriberOf(source);
    if (model !== undefined) {
      return { deferred: { taskType: 'transcription', model, requests: [{ source }] } };
    }
  }
  throw unsupported(item.source, fetched.media_type);
}

/** Where a provider may read it: where it came from, or the bytes that are ours. */
function addressesOf({ sourceKind, source }: PipelineItem, { blob_key }: FetchRow): string[] {
  const name = source
    .split(/[\\/]/)
    .at(-1)
    ?.replace(/[^\w.-]/g, '_');
  const own = `blob:${blob_key}/${name || 'recording'}`;
  return sourceKind === 'url' ? [source, own] : [own];
}
