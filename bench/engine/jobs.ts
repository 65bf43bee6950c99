/** Pawl as a plain queue: many jobs of one step are added, then processed. */
import { answer } from '../measure/child.ts';
import { measureQueue } from '../measure/queue.ts';
import type { Reading } from '../measure/reading.ts';
import {
  checkAllDone,
  completionOf,
  engineOver,
  type Load,
  oneStep,
  openStore,
  pipelineOf,
  type Store,
  settleStatistics,
  submitLoad,
} from './pawl.ts';

interface Request extends Load {
  readonly store: Store;
  readonly places: number;
}

await answer<Request>(measureJobs);

async function measureJobs({ store, places, ...load }: Request): Promise<Reading[]> {
  const database = await openStore(store, oneStep);
  const completion = completionOf(load.documents);
  const pipeline = pipelineOf(oneStep, { done: completion.step });
  const engine = engineOver(database, pipeline, { places });
  const readings = await measureQueue({
    jobs: load.documents,
    serverPid: store.serverPid,
    note: `${places} places`,
    enqueue: () => submitLoad(engine, load),
    settle: () => settleStatistics(database),
    async process() {
      await engine.start();
      await completion.ended(database);
    },
  });
  await checkAllDone(database);
  return readings;
}
