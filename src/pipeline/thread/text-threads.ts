/**
 * Work whose time grows with the text: chunking, entity extraction, link extraction. A short text
 * is processed in this thread. A long one would block everything else in this process, including
 * its own time limit, so it goes to a thread that can be terminated. Threads start with the first
 * long text.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { bounded, type Chunker, cutHere, withText } from '../chunk/chunker.ts';
import { type LinkFinder, linksHere, type PageScope } from '../crawl/found.ts';
import { entitiesHere, type FindEntities } from '../entity/local-extractor.ts';
import type { TextAnswers, TextQuestion, TextWork } from './text-work.ts';
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

  readonly cut: Chunker = async (text, signal) => {
    signal.throwIfAborted();
    if (isShort(text)) return cutHere(text, signal);
    const cuts = await this.#ask('cut', { text }, signal);
    return bounded(cuts).map((cut) => withText(text, cut));
  };

  readonly findEntities: FindEntities = (text, signal) =>
    isShort(text) ? this.#findHere(text) : this.#ask('entities', { text }, signal);

  readonly finder: LinkFinder = {
    links: (text, scope, signal) =>
      isShort(text) && isPlain(scope)
        ? linksHere.links(text, scope, signal)
        : this.#ask('links', { text, scope }, signal),
    sitemap: (text, scope, signal) =>
      isShort(text) && isPlain(scope)
        ? linksHere.sitemap(text, scope, signal)
        : this.#ask('sitemap', { text, scope }, signal),
  };

  close(): Promise<void> {
    return this.#lanes.close(new Failure('canceled', 'the threads for long texts were closed'));
  }

  #ask<Work extends TextWork>(
    work: Work,
    asked: TextQuestion<Work>,
    signal: AbortSignal,
  ): Promise<TextAnswers[Work]> {
    const message = { work, ...asked };
    return this.#lanes.run({ message, signal, length: asked.text.length }) as Promise<
      TextAnswers[Work]
    >;
  }
}

function isShort(text: string): boolean {
  return text.length <= limits.text.hereCharactersMax;
}

/** Each link is compared with each glob, so many long globs are work for a thread too. */
function isPlain({ include, exclude }: PageScope): boolean {
  const characters = [...include, ...exclude].reduce((sum, { length }) => sum + length, 0);
  return characters <= limits.text.globCharactersHereMax;
}
