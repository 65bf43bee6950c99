/** An embedder of your own: here it counts letters. Any model of any kind fits the same way. */
import { type EmbedderPort, open } from 'pawl';

const letters = [...'abcdefghijklmnopqrstuvwxyz'];
const count = (text: string) => letters.map((l) => text.toLowerCase().split(l).length - 1);
const embedder: EmbedderPort = {
  model: 'letters-26',
  dimensions: letters.length,
  embedDocuments: async (texts) => texts.map(count),
  embedQuery: async (text) => count(text),
};
const pawl = await open({ data: 'store', embedder });
const words = ['listen to the sea', 'bake a loaf'].map((text) => ({ id: text, text }));
await (await pawl.ingest(words, { corpus: 'words' })).wait();
console.log((await pawl.search('words', 'silent', { mode: 'vector' }))[0]?.text);
await pawl.close();
