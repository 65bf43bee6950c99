/**
 * A process is killed with all its slots in use; the next one starts at once. Measures the time
 * from opening the store until the last item of the dead process runs again.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { item } from '../../src/kernel/lifecycle/item.ts';
import { answer } from '../measure/child.ts';
import { noiseOf, type Reading } from '../measure/reading.ts';
import { measured } from '../measure/usage.ts';
import { engineOver, openStore, pipelineOf, type Store } from './pawl.ts';

interface Request {
  readonly store: Store;
  readonly held: number;
  readonly queued: number;
}

await answer<Request>(measureRecovery);

async function measureRecovery({ store, held, queued }: Request): Promise<Reading[]> {
  const heldIds = new Set(await killHolder({ store, held, queued }));
  const { promise: allBegun, resolve } = Promise.withResolvers<void>();
  const pipeline = pipelineOf(item, {
    async fetched({ item: { id } }) {
      if (heldIds.delete(id) && heldIds.size === 0) resolve();
      return undefined;
    },
  });
  const usage = await measured(async () => {
    const database = await openStore(store, item);
    await engineOver(database, pipeline, { places: held }).start();
    await allBegun;
  }, store.serverPid);
  const note = `${held} items held, ${queued} more queued`;
  const value = usage.seconds * 1000;
  return [{ measure: 'recovery', value, cost: noiseOf(usage), note }];
}

/** Returns the ids of the items that it held when it was killed. */
async function killHolder(request: Request): Promise<number[]> {
  const holder = fork(new URL('./holder.ts', import.meta.url), [JSON.stringify(request)]);
  const [message] = await Promise.race([
    once(holder, 'message'),
    once(holder, 'exit').then(() => Promise.reject(new Error('the holder ended by itself'))),
  ]);
  const gone = once(holder, 'exit');
  holder.kill('SIGKILL');
  await gone;
  return message as number[];
}
