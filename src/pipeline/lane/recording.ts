/**
 * Recordings in the batch lane: `content_extracted` is handed to a transcription task, and the
 * transcript becomes the text of the document. A failed recording fails only its item.
 */
import type { BlobStore } from '../../blob/blob.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { originOf } from '../../kernel/name/origin.ts';
import { linesOfStep } from '../../store/batch/lines.ts';
import { type FetchRow, getFetch } from '../../store/crawl/fetches.ts';
import { getDocument } from '../../store/document/documents.ts';
import { releaseReservation } from '../../store/money/budgets.ts';
import { keyOf, type ResultRow } from '../../store/money/paid-answers.ts';
import { charge } from '../../store/money/spending.ts';
import { checkOrigin } from '../corpus-origin.ts';
import { extract, keepText, unchanged } from '../extract/extract.ts';
import { unsupported } from '../extract/format/unsupported.ts';
import type { Parser } from '../extract/parsed.ts';
import { isRecording } from '../fetch/http/media-type.ts';
import type { PaidAnswers, Purchase } from '../paid-answers.ts';
import type {
  LaneRequest,
  PipelineItem,
  StepContext,
  StepFunction,
  StepResult,
} from '../pipeline.ts';
import { type Bank, bankLines, isInProgress, type LaneStep, type Reply, refuse } from './bank.ts';

export interface RecordingLane {
  /** The provider that transcribes an address; undefined if none is configured. */
  transcriberOf(address: string): string | undefined;
  /** The address of the provider; undefined if only its adapter knows it. */
  urlOf?(transcriber: string): string | undefined;
  /** The price of an hour of audio in cents, if it is known. */
  hourPriceOf(transcriber: string): { batch: number; normal: number } | undefined;
}

export interface RecordingOptions extends RecordingLane {
  readonly blobs: BlobStore;
  /** The paid-answer cache, which stores transcripts. */
  readonly paidAnswers: PaidAnswers;
  readonly parser: Parser;
  /** The step for everything that is not a recording. */
  readonly normal: StepFunction;
}

const step = 'content_extracted';

export function recordingStep(options: RecordingOptions): LaneStep {
  const bank: Bank = (item, lines) => {
    const heardBy = lines[0]?.model;
    return bankLines(lines, {
      ...options,
      purchase: purchaseOf(item, heardBy ?? ''),
      read: (reply) => readTranscript(reply, item.source),
      centsOf: (reply) => centsOf(reply, priceIn(options, heardBy)?.batch),
    });
  };
  const run: StepFunction = async (context) => {
    const { item, reader } = context;
    const fetched = item.sourceKind === 'inline' ? undefined : await getFetch(reader, item.id);
    if (!fetched || !isRecording(fetched.media_type)) return options.normal(context);
    const lines = await linesOfStep(reader, item.id, step);
    const heardBy = lines[0]?.model;
    if (heardBy !== undefined && isInProgress(lines)) {
      return { deferred: { taskType: 'transcription', model: heardBy, requests: [] } };
    }
    const { paid, failure } = await bank(item, lines);
    if (failure) return refuse(context, step, failure);
    const [spoken] = paid.values();
    if (spoken && heardBy !== undefined) {
      return write(context, transcriptOf(spoken), { options, heardBy, isPaid: true });
    }
    const unchanged = await sameAsBefore(context, fetched);
    if (unchanged) return unchanged;
    const request = requestFor(item, fetched, options);
    const known = (await options.paidAnswers.find([request.key])).get(request.key);
    if (!known) {
      const { model, ...asked } = request;
      const cents = centsOf(guessOf(fetched), priceIn(options, model)?.batch);
      const effect = await checkTranscriber(context, model, options);
      await options.paidAnswers.reserveCents(purchaseOf(item, model), cents);
      return { deferred: { taskType: 'transcription', model, requests: [asked], effect } };
    }
    return write(context, transcriptOf(known), { options, heardBy: request.model, isPaid: false });
  };
  return { run, bank };
}

/** Recordings of a corpus are sent to one transcriber until a person accepts another. */
function checkTranscriber(
  { item: { caller, corpus }, reader }: StepContext,
  model: string,
  { urlOf }: RecordingLane,
) {
  const url = urlOf?.(model);
  const origin = url === undefined ? undefined : originOf(url, true);
  const sending = { caller, corpus, use: 'recordings', model, origin, isBegun: false } as const;
  return checkOrigin(reader, sending);
}

const priceSetting = 'its cents_per_hour in the file of PAWL_BATCH_PROVIDERS';

function purchaseOf(item: Purchase['item'], model: string): Purchase {
  return { item, step, model, prices: undefined, priceSetting };
}

const bytesPerSecond = limits.batch.recordingBytesPerSecond;

/** The minimum bytes per second of each audio format. */
const rates: readonly (readonly [RegExp, number])[] = [
  [/^video\//, bytesPerSecond.video],
  [/wav|aiff|flac|basic|pcm/, bytesPerSecond.plain],
  [/./, bytesPerSecond.packed],
];

/** Estimates the length of a recording, rather too long than too short. */
function guessOf({ media_type, bytes }: FetchRow): Pick<Transcript, 'duration_ms'> {
  const [, rate = bytesPerSecond.packed] = rates.find(([kind]) => kind.test(media_type)) ?? [];
  return { duration_ms: (bytes / rate) * 1000 };
}

/** The stored result of a recording. */
interface Transcript {
  readonly text: string;
  readonly language?: string | undefined;
  readonly duration_ms?: number | undefined;
}

/**
 * A transcript without words is not stored: a retry by a person transcribes the recording again.
 */
function readTranscript({ text = '', language, duration_ms }: Reply, source: string): Uint8Array {
  if (text.trim() === '') {
    throw new Failure('no_usable_content', `the transcript of ${source} has no words`);
  }
  return Buffer.from(JSON.stringify({ text, language, duration_ms } satisfies Transcript));
}

function transcriptOf({ value }: ResultRow): Transcript {
  return JSON.parse(Buffer.from(value).toString());
}

interface Writing {
  readonly options: RecordingOptions;
  readonly heardBy: string;
  /** False if it was paid for before. */
  readonly isPaid: boolean;
}

/** Makes the transcript the text of the document. */
async function write(
  context: StepContext,
  transcript: Transcript,
  { options, heardBy, isPaid }: Writing,
): Promise<StepResult> {
  const { item, signal } = context;
  const { text, language } = transcript;
  const input = { bytes: Buffer.from(text), mediaType: 'text/plain', source: item.source };
  const extracted = await extract(input, context.tools?.parser ?? options.parser, signal);
  const result = await keepText(context, {
    ...extracted,
    language: language ?? extracted.language,
  });
  const cents = centsOf(transcript, priceIn(options, heardBy)?.batch);
  const savedCents = isPaid ? 0 : (cents ?? 0);
  const normal = isPaid ? centsOf(transcript, priceIn(options, heardBy)?.normal) : undefined;
  return {
    ...result,
    model: heardBy,
    detail: {
      ...result.detail,
      lane: 'cheap',
      ...(transcript.duration_ms !== undefined && { recording_ms: transcript.duration_ms }),
      // Already charged with the transcript: here it is only reported.
      ...(isPaid && { cost_cents: cents ?? null }),
      ...(normal !== undefined && { normal_cost_cents: normal }),
      ...(savedCents > 0 && { saved_cents: savedCents }),
    },
    effect: async (transaction, now) => {
      const events = await result.effect?.(transaction, now);
      const { id: itemId, jobId } = item;
      if (savedCents > 0) await charge(transaction, { itemId, jobId, now, savedCents });
      await releaseReservation(transaction, { itemId, step });
      return events;
    },
  };
}

const hourMs = 3_600_000;

function priceIn({ hourPriceOf }: RecordingLane, transcriber: string | undefined) {
  return transcriber === undefined ? undefined : hourPriceOf(transcriber);
}

/** Undefined if the price or the length is unknown. */
function centsOf(
  { duration_ms: duration }: Pick<Transcript, 'duration_ms'>,
  hourCents: number | undefined,
): number | undefined {
  if (hourCents === undefined || duration === undefined) return undefined;
  return (duration / hourMs) * hourCents;
}

/** The same bytes give the same transcript: they are not paid for twice. */
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

/** Changes whenever the same transcript would give another result. */
const stepVersion = 'content_extracted transcript 1';

function requestFor(
  item: PipelineItem,
  fetched: FetchRow,
  { transcriberOf }: RecordingLane,
): LaneRequest & { readonly model: string; readonly source: string } {
  for (const source of addressesOf(item, fetched)) {
    const model = transcriberOf(source);
    if (model !== undefined) {
      return { key: keyOf({ step: stepVersion, model, input: fetched.blob_key }), model, source };
    }
  }
  throw unsupported(item.source, fetched.media_type);
}

/** Addresses that a provider can read: the source, or our stored bytes. */
function addressesOf({ sourceKind, source }: PipelineItem, { blob_key }: FetchRow): string[] {
  const name = source
    .split(/[\\/]/)
    .at(-1)
    ?.replace(/[^\w.-]/g, '_');
  const own = `blob:${blob_key}/${name || 'recording'}`;
  return sourceKind === 'url' ? [source, own] : [own];
}
