/** A thread that works on long texts, one after the other. */
import { parentPort } from 'node:worker_threads';
import { entitiesHere } from '../entity/local-extractor.ts';
import type { LongText, TextAnswers, TextWork } from './text-threads.ts';

const findEntities = entitiesHere();
const works: { readonly [Work in TextWork]: (text: string) => Promise<TextAnswers[Work]> } = {
  cut: async (text) => {
    const { splitText } = await import('../chunk/split.ts');
    // Their texts stand in the one that was sent, so they need not travel.
    return splitText(text).map(({ text: _, ...chunk }) => chunk);
  },
  entities: findEntities,
};

// What is thrown here ends the thread, and whoever waits is told why.
parentPort?.on('message', async ({ work, text }: LongText) => {
  parentPort?.postMessage(await works[work](text));
});
