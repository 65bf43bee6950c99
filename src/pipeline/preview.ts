/**
 * Shows what would be indexed of a source, without storing anything. The source is read, fetched
 * and parsed by the same code and within the same limits as in a job, including robots.txt and the
 * rate limit of a domain.
 */
import { Failure } from '../kernel/failure/failure.ts';
import type { World } from '../kernel/world.ts';
import type { NewSource } from '../store/job/submit.ts';
import { type Extracted, type ExtractInput, extract, inlineInput } from './extract/extract.ts';
import type { Parser } from './extract/parsed.ts';
import type { Rendering } from './fetch/browser/visible-page.ts';
import { readBounded, typed } from './fetch/fetch.ts';
import type { Fetcher } from './fetch/http/http.ts';
import { Turns } from './fetch/robots/domain-throttle.ts';
import { RobotsCheck } from './fetch/robots/robots-check.ts';
import { readUrl } from './fetch/url.ts';
import { visitor } from './fetch/visit.ts';

export interface PreviewOptions {
  readonly fetcher: Fetcher;
  readonly parser: Parser;
  readonly world: World;
  /** If absent, page scripts are not run. */
  readonly rendering?: Rendering | undefined;
}

/** Bytes without a source address. */
export interface BytesSource {
  readonly kind: 'bytes';
  readonly source: string;
  readonly bytes: Uint8Array;
}

export type PreviewSource = NewSource | BytesSource;

export class Preview {
  readonly #options: PreviewOptions;
  readonly #turns: Turns;

  constructor(options: PreviewOptions) {
    this.#options = options;
    this.#turns = new Turns(options.world);
  }

  async extract(
    source: PreviewSource,
    signal: AbortSignal,
    wanted: { readonly withDropped?: boolean } = {},
  ): Promise<Extracted> {
    const input = await this.read(source, signal);
    return extract({ ...input, ...wanted }, this.#options.parser, signal);
  }

  /** The bytes of a source, with their type. */
  async read(from: PreviewSource, signal: AbortSignal): Promise<ExtractInput> {
    const { kind, source } = from;
    if (kind === 'bytes') return { ...typed(source, from.bytes), source };
    if (kind === 'file') return { ...typed(source, await readBounded(source)), source };
    if (from.input !== undefined) return inlineInput(source, from.input);
    const gate = from.gate ?? readUrl(source).host;
    return this.#turns.take(gate, signal, () => this.#fetch(source, signal));
  }

  async #fetch(source: string, signal: AbortSignal): Promise<ExtractInput> {
    signal.throwIfAborted();
    const { fetcher, rendering, world } = this.#options;
    const now = world.now();
    // No page was visited before.
    const robots = new RobotsCheck({ fetcher, stored: async () => undefined, signal, now });
    const { shown, failure } = await visitor({ fetcher, rendering })({
      source,
      robots,
      now,
      signal,
    });
    if (failure) throw failure;
    if (!shown) throw new Failure('bad_response', `${source} answered 304 unasked`);
    const { bytes, mediaType } = shown.content;
    return { bytes, mediaType, source };
  }
}
