/** A store without a sink: what it keeps itself is held to the same promises. */
import { Mirror } from '../../../src/search/vector/mirror.ts';
import { listEntities } from '../../../src/store/entities.ts';
import type { OpenStore } from '../../support/store-fixture.ts';
import type { Cleanup } from '../../support/temporary.ts';
import type { SinkCase } from './bench.ts';
import { vectorsSeen } from './vectors-seen.ts';

export function vectorCase(open: OpenStore): (t: Cleanup) => Promise<SinkCase> {
  return async (t) => {
    const store = await open(t);
    const { database } = store;
    const index = new Mirror(database);
    const seen: SinkCase['seen'] = (of, heading) => vectorsSeen({ database, index }, of, heading);
    return { name: database.dialect.name, keeps: 'vectors', store, seen };
  };
}

export function entityCase(open: OpenStore): (t: Cleanup) => Promise<SinkCase> {
  return async (t) => {
    const store = await open(t);
    const { database } = store;
    const seen: SinkCase['seen'] = async (of) => {
      const rows = await listEntities(database, { ...of, limit: 1000 });
      return rows.map(({ name }) => name).sort();
    };
    return { name: database.dialect.name, keeps: 'entities', store, seen };
  };
}
