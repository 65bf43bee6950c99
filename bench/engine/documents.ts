/** Documents of eight steps through the engine, from the first submission to the last end. */
import { item } from '../../src/kernel/lifecycle/item.ts';
import { answer } from '../measure/child.ts';
import { type Reading, rate } from '../measure/reading.ts';
import { measured } from '../measure/usage.ts';
import {
  checkAllDone,
  completionOf,
  engineOver,
  type Load,
  openStore,
  pipelineOf,
  type Store,
  submitLoad,
} from './pawl.ts';

interface Request extends Load {
  readonly store: Store;
  readonly places: number;
}

await answer<Request>(measureDocuments);

async function measureDocuments({ store, places, ...load }: Request): Promise<Reading[]> {
  const database = await openStore(store, item);
  const completion = completionOf(load.documents);
  const pipeline = pipelineOf(item, { done: completion.step });
  const engine = engineOver(database, pipeline, { places });
  await engine.start();
  const usage = await measured(async () => {
    await submitLoad(engine, load);
    await completion.ended(database);
  }, store.serverPid);
  await checkAllDone(database);
  const note = `${places} places, jobs of ${load.perJob}`;
  return [rate('documents', load.documents, usage, note)];
}
