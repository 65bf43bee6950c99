/** A Qdrant for a test: the one whose address is given, or the fake one. */

import { realWorld } from '../../../src/app/world.ts';
import { Mirror } from '../../../src/search/vector/mirror.ts';
import { SinkIndex } from '../../../src/search/vector/sink-index.ts';
import { openQdrant } from '../../../src/sink/qdrant.ts';
import { hangSignal } from '../../support/patience.ts';
import { QdrantServer } from '../../support/qdrant/qdrant-server.ts';
import { openSqliteMemory } from '../../support/store-opener.ts';
import type { Cleanup } from '../../support/temporary.ts';
import type { SinkCase } from './bench.ts';
import { vectorsSeen } from './vectors-seen.ts';

/** A real server to run the same tests against; the tests remove what they create. */
export const realQdrant = process.env.PAWL_TEST_QDRANT_URL;
const key = process.env.PAWL_TEST_QDRANT_KEY;

export async function openQdrantCase(t: Cleanup): Promise<SinkCase & { server?: QdrantServer }> {
  const server = realQdrant === undefined ? await new QdrantServer().start(t) : undefined;
  const url = realQdrant ?? server?.url ?? '';
  const prefix = `test-${crypto.randomUUID().slice(0, 8)}`;
  const sink = openQdrant({ url, key, prefix, world: realWorld() });
  t.after(async () => {
    if (!server) await sink.tidy(async () => [], hangSignal());
    if (server && server.wrongs.length > 0) throw new Error(server.wrongs.join('\n'));
  });
  const store = await openSqliteMemory(t);
  const { database } = store;
  const index = new SinkIndex({ database, sink, otherwise: new Mirror(database) });
  const ask = async (call: string, body?: object) => {
    const [method = '', path = ''] = call.split(' ');
    const headers = {
      ...(key !== undefined && { 'api-key': key }),
      ...(body && { 'content-type': 'application/json' }),
    };
    const sent = body ? { body: JSON.stringify(body) } : {};
    const response = await fetch(`${url}${path}`, { method, headers, ...sent });
    return ((await response.json()) as { result: unknown }).result;
  };
  const kept = async (): Promise<string[]> => {
    const { collections } = (await ask('GET /collections')) as { collections: { name: string }[] };
    const texts: string[] = [];
    for (const { name } of collections.filter((each) => each.name.startsWith(prefix))) {
      const path = `/collections/${encodeURIComponent(name)}/points/scroll`;
      const { points } = (await ask(`POST ${path}`, { limit: 1000, with_payload: true })) as {
        points: { payload: { text: string } }[];
      };
      texts.push(...points.map(({ payload }) => payload.text));
    }
    return texts.sort();
  };
  const seen: SinkCase['seen'] = (of, heading) => vectorsSeen({ database, index }, of, heading);
  return { name: 'qdrant', keeps: 'vectors', store, sink, seen, kept, ...(server && { server }) };
}
