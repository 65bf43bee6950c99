/** Takes items, never finishes one, prints their ids, and waits to be killed. */
import { item } from '../../src/kernel/lifecycle/item.ts';
import { engineOver, openStore, pipelineOf, type Store, submit } from './pawl.ts';

interface Request {
  readonly store: Store;
  readonly held: number;
  readonly queued: number;
}

const { store, held, queued } = JSON.parse(process.argv[2] ?? '{}') as Request;
const database = await openStore(store, item);
const heldIds: number[] = [];
const pipeline = pipelineOf(item, {
  fetched({ item: { id } }) {
    heldIds.push(id);
    if (heldIds.length === held) process.send?.(heldIds);
    return new Promise(() => undefined);
  },
});
const engine = engineOver(database, pipeline, { places: held });
await submit(engine, 0, held + queued);
await engine.start();
