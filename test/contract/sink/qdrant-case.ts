/** A Qdrant for a test: the one whose address is given, or the fake one. */

import { realWorld } from '../../../src/app/world.ts';
import { Mirror } from '../../../src/search/vector/mirror.ts';
import { SinkIndex } from '../../../src/search/vector/sink-index.ts';
import { openQdrant } from '../../../src/sink/qdrant.ts';
import { hangSignal } from '../../support/patience.ts';
import { openQdrantPlace, pointsOf } from '../../support/qdrant/qdrant-place.ts';
import type { QdrantServer } from '../../support/qdrant/qdrant-server.ts';
import { openSqliteMemory } from '../../support/store-opener.ts';
import type { Cleanup } from '../../support/temporary.ts';
import type { SinkCase } from './bench.ts';
import { vectorsSeen } from './vectors-seen.ts';

export async function openQdrantCase(t: Cleanup): Promise<SinkCase & { server?: QdrantServer }> {
  const place = await openQdrantPlace(t);
  const { url, key, prefix, server } = place;
  const sink = openQdrant({ url, key, prefix, world: realWorld() });
  t.after(async () => {
    if (!server) await sink.tidy(async () => [], hangSignal());
  });
  const store = await openSqliteMemory(t);
  const { database } = store;
  const index = new SinkIndex({ database, sink, otherwise: new Mirror(database) });
  const kept = async (): Promise<string[]> =>
    (await pointsOf(place)).map(({ payload }) => payload.text).sort();
  const seen: SinkCase['seen'] = (of, heading) => vectorsSeen({ database, index }, of, heading);
  return { name: 'qdrant', keeps: 'vectors', store, sink, seen, kept, ...(server && { server }) };
}
