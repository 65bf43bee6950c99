/** A sink of your own: a copy of every current document, in a map. */
import { open, type SinkPort } from 'pawl';

const copy = new Map<number, string>();
const sink: SinkPort = {
  name: 'map',
  keeps: 'entities',
  write: async ({ id, source }) => void copy.set(id, source),
  settle: async ({ current, asOf }) => {
    for (const id of copy.keys()) if (id !== current && id <= asOf) copy.delete(id);
  },
  tidy: async (kept) => void ((await kept()).length || copy.clear()),
};
const pawl = await open({ data: 'store', sinkAdapters: [sink] });
await (await pawl.ingest([{ id: 'sea', text: 'The moon moves it.' }], { corpus: 'a' })).wait();
await pawl.close();
console.log([...copy.values()]);
