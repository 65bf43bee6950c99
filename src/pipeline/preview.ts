/**
 * What would be indexed of a source, without storing anything: it is read, fetched and parsed by
 * the same code and within the same bounds as in a job, robots.txt and the pace of a domain
 * included.
 */
import { Failure } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import { pause, type World } from '../kernel/world.ts';
import type { NewSource } from '../store/submit.ts';
import { type Extracted, type ExtractInput, extract, inlineInput } from './extract/extract.ts';
import type { Parser } from './extract/parsed.ts';
import { readBounded, typed } from './fetch/fetch.ts';
import type { Fetcher } from './fetch/http.ts';
import { RobotsCheck } from './fetch/robots-check.ts';
import { readUrl } from './fetch/url.ts';
import { visitor } from './fetch/visit.ts';

export interface PreviewOptions {
  readonly fetcher: Fetcher;
  readonly parser: Parser;
  readonly world: World;
}

/** Bytes that came from nowhere in particular. */
export interface BytesSource {
  readonly kind: 'bytes';
  readonly source: string;
  readonly bytes: Uint8Array;
}

export type PreviewSource = NewSource | BytesSource;

export class Preview {
  readonly #options: PreviewOptions;
  /** Resolves when the next page of a domain may be read. */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(options: PreviewOptions) {
    this.#options = options;
  }

  async extract(source: PreviewSource, signal: AbortSignal): Promise<Extracted> {
    return extract(await this.read(source, signal), this.#options.parser, signal);
  }

  /** The bytes of a source, with their type. */
  async read(from: PreviewSource, signal: AbortSignal): Promise<ExtractInput> {
    const { kind, source } = from;
    if (kind === 'bytes') return { ...typed(source, from.bytes), source };
    if (kind === 'file') return { ...typed(source, await readBounded(source)), source };
    if (from.input !== undefined) return inlineInput(source, from.input);
    const gate = from.gate ?? readUrl(source).host;
    return this.#inTurn(gate, signal, () => this.#fetch(source, signal));
  }

  /** The pages of one domain one after the other, with the pause of a polite visitor between. */
  #inTurn<T>(gate: string, signal: AbortSignal, read: () => Promise<T>): Promise<T> {
    const result = (this.#turns.get(gate) ?? Promise.resolve()).then(read);
    const rest = () => pause(this.#options.world, limits.fetch.domainIntervalMs, signal);
    this.#turns.set(gate, result.then(rest, rest));
    return result;
  }

  async #fetch(source: string, signal: AbortSignal): Promise<ExtractInput> {
    signal.throwIfAborted();
    const { fetcher, world } = this.#options;
    const now = world.now();
    // No page was visited before.
    const robots = new RobotsCheck({ fetcher, stored: async () => undefined, signal, now });
    const { shown, failure } = await visitor({ fetcher })({ source, robots, now, signal });
    if (failure) throw failure;
    if (!shown) throw new Failure('bad_response', `${source} answered 304 unasked`);
    const { bytes, mediaType } = shown.content;
    return { bytes, mediaType, source };
  }
}
