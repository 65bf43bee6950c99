/** An entity extractor of your own: here it finds ticket numbers. A model fits the same way. */
import { type EntityExtractorPort, open } from 'pawl';

const extractor: EntityExtractorPort = {
  name: 'tickets',
  extract: async (text) =>
    [...new Set(text.match(/\b[A-Z]+-\d+\b/g))].map((name) => ({ kind: 'name', name })),
};
const pawl = await open({ data: 'store', extractor });
const notes = [{ id: 'log', text: 'OPS-7 was closed by mistake. OPS-9 follows OPS-7.' }];
await (await pawl.ingest(notes, { corpus: 'log' })).wait();
for await (const { name, mentions } of pawl.entities('log')) console.log(name, mentions);
await pawl.close();
