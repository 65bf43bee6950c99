/**
 * Writes the results of a provider's job to the blob store, line by line. Results are matched by
 * id: the first of two counts, an unknown one is reported and skipped, and a missing one is
 * recorded as missing. Only ids are held in memory.
 */
import { type BlobStore, getPieces, putParts } from '../../blob/blob.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { isGivenUp, type JsonObject, type ProviderJob } from '../../kernel/provider-state.ts';
import { readLines } from '../../kernel/text/lines.ts';
import type { ResultLine } from '../../provider/batch/batch-provider.ts';
import type { ResultPlace } from './submit.ts';

export interface Collected {
  readonly blobKey: string;
  readonly ok: number;
  readonly failed: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly places: ReadonlyMap<string, ResultPlace>;
  /** The first error, for a job that brought nothing else. */
  readonly firstError: string | undefined;
  /** Unexpected lines: at most a few sentences, and their number. */
  readonly oddities: readonly string[];
  readonly odd: number;
  /** The results themselves, if they are few and small. */
  readonly inline: readonly JsonObject[] | undefined;
}

const odditiesMax = 5;
/** In addition to one line per requested response. */
const oddLinesMax = 10_000;

export async function collectResults(
  lines: AsyncIterable<ResultLine> | Iterable<ResultLine>,
  { expected, blobs }: { readonly expected: ReadonlySet<string>; readonly blobs: BlobStore },
): Promise<Collected> {
  const collector = new Collector(expected);
  const blobKey = await putParts(blobs, collector.write(lines));
  return { ...collector.sum(), blobKey };
}

class Collector {
  readonly #expected: ReadonlySet<string>;
  readonly #places = new Map<string, ResultPlace>();
  readonly #oddities: string[] = [];
  #inline: JsonObject[] | undefined = [];
  #bytes = 0;
  #ok = 0;
  #failed = 0;
  #odd = 0;
  #tokensIn = 0;
  #tokensOut = 0;
  #firstError: string | undefined;

  constructor(expected: ReadonlySet<string>) {
    this.#expected = expected;
  }

  async *write(
    lines: AsyncIterable<ResultLine> | Iterable<ResultLine>,
  ): AsyncGenerator<Uint8Array, void> {
    for await (const line of lines) {
      if (this.#odd > this.#expected.size + oddLinesMax) {
        this.#oddities.push(`more than ${this.#odd} unexpected lines: the rest was not read`);
        break;
      }
      if (line.id === undefined) {
        if (line.isEnd) this.#oddities.push(line.odd);
        else if (line.odd !== '') this.#tell(line.odd);
      } else if (!this.#expected.has(line.id)) {
        this.#tell(`a result for ${line.id.slice(0, 100)}, which was not requested`);
      } else if (this.#places.has(line.id)) {
        this.#tell(`a second result for ${line.id.slice(0, 100)}`);
      } else {
        yield this.#add(line);
      }
    }
    for (const id of this.#expected) {
      if (this.#places.has(id)) continue;
      yield this.#add({ id, isOk: false, error: 'no result was returned', isRetryable: true });
    }
  }

  sum(): Omit<Collected, 'blobKey'> {
    return {
      ok: this.#ok,
      failed: this.#failed,
      tokensIn: this.#tokensIn,
      tokensOut: this.#tokensOut,
      places: this.#places,
      firstError: this.#firstError,
      oddities: this.#oddities,
      odd: this.#odd,
      inline: this.#inline,
    };
  }

  #add(line: Entry): Uint8Array {
    const entry = entryOf(line);
    const bytes = Buffer.from(`${JSON.stringify(entry)}\n`);
    const isRetryable = !line.isOk && line.isRetryable;
    const place = { at: this.#bytes, bytes: bytes.length, isOk: line.isOk, isRetryable };
    this.#places.set(line.id, place);
    this.#bytes += bytes.length;
    if (line.isOk) {
      this.#ok += 1;
      this.#tokensIn += line.tokensIn ?? 0;
      this.#tokensOut += line.tokensOut ?? 0;
    } else {
      this.#failed += 1;
      this.#firstError ??= line.error;
    }
    if (this.#bytes > limits.batch.inlineResultBytesMax) this.#inline = undefined;
    this.#inline?.push(entry);
    return bytes;
  }

  #tell(sentence: string): void {
    this.#odd += 1;
    if (this.#oddities.length < odditiesMax) this.#oddities.push(sentence);
  }
}

type Entry = Exclude<ResultLine, { id: undefined }>;

function entryOf(line: Entry): JsonObject {
  if (line.isOk) {
    const { id, value, tokensIn = 0, tokensOut = 0 } = line;
    const spent = tokensIn + tokensOut > 0 && { tokens_in: tokensIn, tokens_out: tokensOut };
    return { id, ...value, ...spent };
  }
  const { id, error, isRetryable } = line;
  return { id, error: error.slice(0, limits.batch.errorCharactersMax), retryable: isRetryable };
}

/** What a transcription job stores of its results: the results, or their location. */
export function resultEntry({ inline, blobKey, ok, failed }: Collected): readonly JsonObject[] {
  return inline ?? [{ blob_key: blobKey, ok, failed }];
}

/** Whether some requests of a job failed. */
export function isPartly({ status, result }: ProviderJob): boolean {
  if (status === 'PARTIAL_COMPLETE') return true;
  return result?.some(({ error, failed }) => error !== undefined || Number(failed) > 0) ?? false;
}

export const blobScheme = 'blob:';

export interface Merging {
  readonly taskType: string;
  readonly merge: 'flat' | 'by_model';
  readonly blobs: BlobStore;
  /** The recordings of each job; empty for a job that answers requests. */
  readonly sources: readonly (readonly string[])[];
}

/**
 * The stored output of a task: `{"transcriptions": […]}`, or per model `{"MODEL":
 * {"transcriptions": […]}}`; for completions the list is called `completions`. A failed recording
 * is listed with its error, both for providers with one job per recording and for those with one
 * job for all.
 */
export async function* mergedOutput(
  jobs: readonly ProviderJob[],
  { taskType, merge, blobs, sources }: Merging,
): AsyncGenerator<Uint8Array, void> {
  const list = lists[taskType] ?? 'results';
  const ended = jobs
    .map((job, index) => withFailures(job, sources[index] ?? []))
    // An abandoned job may have brought results before it ended.
    .filter((job) => job.status !== 'FAILED' || hasResults(job));
  if (merge === 'flat') {
    yield Buffer.from(`{"${list}":[`);
    yield* withCommas(ended, blobs);
    yield Buffer.from(']}');
    return;
  }
  const models = Map.groupBy(ended, ({ model = '' }) => model);
  for (const [index, [model, own]] of [...models].entries()) {
    yield Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(model)}:{"${list}":[`);
    yield* withCommas(own, blobs);
    yield Buffer.from(']}');
  }
  yield Buffer.from(ended.length === 0 ? '{}' : '}');
}

/** A failed job without results: each of its recordings gets the job's error. */
function withFailures(job: ProviderJob, sources: readonly string[]): ProviderJob {
  if (job.status !== 'FAILED' || hasResults(job) || sources.length === 0) return job;
  const { error = 'the provider reports a failure' } = job;
  const isRetryable = isGivenUp(job);
  const result = sources.map((id) => entryOf({ id, isOk: false, error, isRetryable }));
  return { ...job, result };
}

export function hasResults({ result, output_uri: uri }: ProviderJob): boolean {
  return result !== undefined || uri !== undefined;
}

const lists: Readonly<Record<string, string>> = {
  transcription: 'transcriptions',
  completion: 'completions',
  embedding: 'embeddings',
};

async function* withCommas(
  jobs: readonly ProviderJob[],
  blobs: BlobStore,
): AsyncGenerator<Uint8Array, void> {
  let isFirst = true;
  for (const job of jobs) {
    for await (const line of linesOf(job, blobs)) {
      yield Buffer.from(isFirst ? line : `,${line}`);
      isFirst = false;
    }
  }
}

async function* linesOf(
  { result, output_uri: uri }: ProviderJob,
  blobs: BlobStore,
): AsyncGenerator<string, void> {
  const [first] = result ?? [];
  const key = uri?.startsWith(blobScheme) ? uri.slice(blobScheme.length) : first?.blob_key;
  if (typeof key !== 'string') {
    for (const entry of result ?? []) yield JSON.stringify(entry);
    return;
  }
  yield* readLines(await getPieces(blobs, key));
}
