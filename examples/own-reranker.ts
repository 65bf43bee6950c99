/** A reranker of your own: here it counts the words of the query. A cross-encoder fits the same way. */
import { open, type RerankerPort } from 'pawl';

const wordsOf = (text: string): string[] => text.toLowerCase().match(/\w+/g) ?? [];
const share = (text: string, words: string[]) =>
  wordsOf(text).filter((word) => words.includes(word)).length / wordsOf(text).length;
const reranker: RerankerPort = {
  name: 'shared-words',
  topN: 20,
  rerank: async (query, passages) => passages.map(({ text }) => share(text, wordsOf(query))),
};
const pawl = await open({ data: 'store', reranker });
const texts = ['The tide is high', 'The tide and the tide tables'];
const notes = texts.map((text) => ({ id: text, text }));
await (await pawl.ingest(notes, { corpus: 'notes' })).wait();
for (const { text, score } of await pawl.search('notes', 'tide')) console.log(score, text);
await pawl.close();
