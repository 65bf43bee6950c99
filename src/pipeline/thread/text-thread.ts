/** A thread that processes long texts, one after the other. */
import { parentPort } from 'node:worker_threads';
import { feedReadingOf } from '../crawl/feed-text.ts';
import { linksIn, sitemapIn } from '../crawl/page-links.ts';
import { entitiesHere } from '../entity/local-extractor.ts';
import { meterHere } from '../fetch/browser/render.ts';
import type { TextInput, TextMessage, TextResults, TextWork } from './text-work.ts';

const findEntities = entitiesHere();
/** The thread is ended instead. */
const { signal } = new AbortController();
const works: {
  readonly [Work in TextWork]: (input: TextInput<Work>) => Promise<TextResults[Work]>;
} = {
  chunk: async ({ text, chunking }) => {
    const { chunkSlicesOf } = await import('../chunk/split.ts');
    // Chunk texts are slices of the text that was sent, so they are not sent back.
    return chunkSlicesOf(text, chunking);
  },
  entities: ({ text }) => findEntities(text),
  links: async ({ text, scope }) => linksIn(text, scope),
  sitemap: async ({ text, scope }) => sitemapIn(text, scope),
  feed: ({ text: bytes, charset, address }) => feedReadingOf({ bytes, charset, address }, signal),
  shell: ({ text }) => meterHere.isShell(text, signal),
  words: ({ text }) => meterHere.words(text, signal),
};

// An exception ends the thread, and the waiting task fails with it.
parentPort?.on('message', async (message: TextMessage) => {
  const work = works[message.work] as (input: object) => Promise<unknown>;
  parentPort?.postMessage(await work(message));
});
