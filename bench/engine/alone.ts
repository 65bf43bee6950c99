/**
 * One document at a time through an idle engine: the time until it starts, and until it is done.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Ledger } from '../../src/engine/item/ledger.ts';
import { item } from '../../src/kernel/lifecycle/item.ts';
import { answer } from '../measure/child.ts';
import { costOf, noiseOf, type Reading, spread } from '../measure/reading.ts';
import { measured } from '../measure/usage.ts';
import { engineOver, openStore, pipelineOf, type Store, submit } from './pawl.ts';

interface Request {
  readonly store: Store;
  readonly documents: number;
}

/** Pause between two documents, so that the engine is idle again. */
const idleMs = 2;
const warmUps = 50;

await answer<Request>(measureAlone);

async function measureAlone({ store, documents }: Request): Promise<Reading[]> {
  const database = await openStore(store, item);
  const moment = { begun: 0, onDone: (): void => undefined };
  const begin = async (): Promise<undefined> => {
    moment.begun = performance.now();
  };
  const pipeline = pipelineOf(item, { fetched: begin });
  const ledger = (own: Ledger): Ledger => tellingWhenDone(own, () => moment.onDone());
  const engine = engineOver(database, pipeline, { ledger });
  await engine.start();
  const begun: number[] = [];
  const done: number[] = [];
  const runOne = async (index: number): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<number>();
    moment.onDone = () => resolve(performance.now());
    const startedAt = performance.now();
    await submit(engine, index, 1);
    const doneAt = await promise;
    begun.push(moment.begun - startedAt);
    done.push(doneAt - startedAt);
    await pause(idleMs);
  };
  for (let index = 0; index < warmUps; index++) await runOne(index);
  begun.length = done.length = 0;
  const usage = await measured(async () => {
    for (let index = 0; index < documents; index++) await runOne(warmUps + index);
  }, store.serverPid);
  return [spread('alone', done, costOf(documents, usage)), spread('begun', begun, noiseOf(usage))];
}

/** Calls back when the last step's report is on disk. */
function tellingWhenDone(own: Ledger, onDone: () => void): Ledger {
  return {
    claim: (...request) => own.claim(...request),
    beat: (worker) => own.beat(worker),
    leases: (worker) => own.leases(worker),
    handBack: (leases) => own.handBack(leases),
    async report(report) {
      const verdict = await own.report(report);
      const { move } = report;
      if (move.to === 'advance' && move.progress === item.complete) onDone();
      return verdict;
    },
  };
}
