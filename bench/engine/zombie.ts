/**
 * A worker that was considered dead finishes late, while another has its item. The late completion
 * must change nothing.
 */

import { leaseOf } from '../../src/engine/item/ledger.ts';
import { rescue } from '../../src/engine/item/rescuer.ts';
import { StoreLedger } from '../../src/engine/item/store-ledger.ts';
import { noProgress } from '../../src/kernel/lifecycle/item.ts';
import type { ClaimedRow } from '../../src/store/item/moves.ts';
import type { Verdict } from '../../src/store/item/reports.ts';
import { registerWorker } from '../../src/store/item/workers.ts';
import { answer } from '../measure/child.ts';
import type { Reading } from '../measure/reading.ts';
import { engineOver, oneStep, openStore, pipelineOf, type Store, submit, world } from './pawl.ts';

await answer<{ store: Store }>(probeZombie);

async function probeZombie({ store }: { store: Store }): Promise<Reading[]> {
  const database = await openStore(store, oneStep);
  await submit(engineOver(database, pipelineOf(oneStep)), 0, 1);
  const ledger = new StoreLedger({ database, lifecycle: oneStep, world, ring: () => undefined });
  const claimAs = async (id: string, pid: number): Promise<ClaimedRow> => {
    const row = { id, host: 'bench', pid, process_started: '', beat_at: database.now() };
    await database.write((transaction) => registerWorker(transaction, row));
    const [claimed] = await ledger.claim(id, { count: 1 });
    if (!claimed) throw new Error(`${id} got nothing to do`);
    return claimed;
  };
  const complete = (row: ClaimedRow, worker: string): Promise<Verdict> =>
    ledger.report({
      lease: leaseOf(row, worker),
      expect: noProgress,
      move: { to: 'advance', progress: oneStep.complete },
      events: [],
    });

  const slow = await claimAs('slow', 1);
  const liveness = { host: 'bench', pid: 2, processStarted: '', isAlive: () => false };
  await rescue({ database, lifecycle: oneStep, world, liveness, ring: () => undefined });
  const next = await claimAs('next', 2);
  const late = await complete(slow, 'slow');
  const own = await complete(next, 'next');
  if (own !== 'applied') throw new Error('the holder could not complete its own item');
  return [{ measure: 'zombie', value: late === 'applied' ? 1 : 0 }];
}
