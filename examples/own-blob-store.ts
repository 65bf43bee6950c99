/** A blob store of your own: the bytes of larger sources by their hash, here in a map. */
import { createHash } from 'node:crypto';
import { type BlobStorePort, open } from 'pawl';

const held = new Map<string, Uint8Array>();
const blobs: BlobStorePort = {
  put: async (bytes) => {
    const key = createHash('sha256').update(bytes).digest('hex');
    return held.set(key, Buffer.from(bytes)) && key;
  },
  get: async (key) => held.get(key),
};
const [page = '', ...allowHosts] = process.argv.slice(2);
const pawl = await open({ data: 'store', blobs, allowHosts });
await (await pawl.ingest([page], { corpus: 'pages' })).wait();
await pawl.close();
for (const bytes of held.values()) console.log(`${bytes.length} bytes`);
