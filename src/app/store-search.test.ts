/** A search without the engine, as the command line does it. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Cleanup, temporaryDirectory } from '../../test/support/temporary.ts';
import { open } from '../index.ts';
import { loadConfig } from './settings/config.ts';
import { openStoreSearch } from './store-search.ts';

const corpus = 'handbook';

async function setup(t: Cleanup) {
  const data = temporaryDirectory(t);
  const pawl = await open({ data });
  const lamps = [1, 2, 3].map((n) => ({ id: `d${n}`, text: `Lamp ${n} is lit.` }));
  await (await pawl.ingest(lamps, { corpus })).wait();
  await pawl.close();
  return data;
}

test('the first search saves the index of a large corpus after its answer', async (t) => {
  const data = await setup(t);
  const folder = join(data, 'index');
  const { config } = loadConfig({ flags: { data }, environment: {} });
  const errors: unknown[] = [];
  const search = async ({ keeps }: { keeps: boolean }) => {
    const onError = (_: string, error: unknown) => void errors.push(error);
    const store = await openStoreSearch(config, { onError, chunksMin: 1 });
    assert.ok(store);
    const body = { corpus_name: corpus, query: 'lamp 2' };
    const { query_ms: _, ...found } = await store.ask('POST /search', { body });
    if (keeps) await store.keep();
    await store.close();
    return found;
  };
  const first = await search({ keeps: true });
  assert.equal(readdirSync(folder).length, 2);
  assert.deepEqual(await search({ keeps: false }), first);
  assert.deepEqual(errors, []);
});
