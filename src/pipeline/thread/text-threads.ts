/**
 * Work whose time grows with the text: chunking, entity extraction, links, feeds. A short text
 * is processed in this thread. A long one would block everything else in this process, including
 * its own time limit, so it goes to a thread that can be terminated. Threads start with the first
 * long text.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { bounded, type Chunker, chunkHere, withText } from '../chunk/chunker.ts';
import { type FeedReader, feedHere } from '../crawl/feed-text.ts';
import { type LinkFinder, linksHere, type PageScope } from '../crawl/page-links.ts';
import { entitiesHere, type FindEntities } from '../entity/local-extractor.ts';
import { meterHere, type PageMeter } from '../fetch/browser/render.ts';
import type { TextInput, TextResults, TextWork } from './text-work.ts';
import { ThreadLanes } from './thread-lanes.ts';

export class TextThreads {
  readonly #lanes: ThreadLanes;
  readonly #findHere = entitiesHere();

  constructor(world: World) {
    this.#lanes = new ThreadLanes({
      program: new URL('./text-thread.ts', import.meta.url),
      world,
    });
  }

  readonly cut: Chunker = async (text, signal, chunking) => {
    signal.throwIfAborted();
    if (isShort(text)) return chunkHere(text, signal, chunking);
    const slices = await this.#run('chunk', { text, chunking }, signal);
    return bounded(slices).map((slice) => withText(text, slice));
  };

  readonly findEntities: FindEntities = (text, signal) =>
    isShort(text) ? this.#findHere(text) : this.#run('entities', { text }, signal);

  readonly finder: LinkFinder = {
    links: (text, scope, signal) =>
      isShort(text) && isPlain(scope)
        ? linksHere.links(text, scope, signal)
        : this.#run('links', { text, scope }, signal),
    sitemap: (text, scope, signal) =>
      isShort(text) && isPlain(scope)
        ? linksHere.sitemap(text, scope, signal)
        : this.#run('sitemap', { text, scope }, signal),
  };

  readonly readFeed: FeedReader = async (feed, signal) => {
    const { bytes: text, charset, address } = feed;
    if (isShort(text)) return feedHere(feed, signal);
    const found = await this.#run('feed', { text, charset, address }, signal);
    if ('refusal' in found) throw new Failure('bad_response', found.refusal);
    return found;
  };

  readonly meter: PageMeter = {
    isShell: (text, signal) =>
      isShort(text) ? meterHere.isShell(text, signal) : this.#run('shell', { text }, signal),
    words: (text, signal) =>
      isShort(text) ? meterHere.words(text, signal) : this.#run('words', { text }, signal),
  };

  close(): Promise<void> {
    return this.#lanes.close(new Failure('canceled', 'the threads for long texts were closed'));
  }

  #run<Work extends TextWork>(
    work: Work,
    input: TextInput<Work>,
    signal: AbortSignal,
  ): Promise<TextResults[Work]> {
    const message = { work, ...input };
    return this.#lanes.run({ message, signal, length: input.text.length }) as Promise<
      TextResults[Work]
    >;
  }
}

function isShort(text: string | Uint8Array): boolean {
  return text.length <= limits.text.hereCharactersMax;
}

/** Each link is compared with each glob, so many long globs are work for a thread too. */
function isPlain({ include, exclude }: PageScope): boolean {
  const characters = [...include, ...exclude].reduce((sum, { length }) => sum + length, 0);
  return characters <= limits.text.globCharactersHereMax;
}
