/** A process that works on documents and batch tasks, with or without a provider's settings. */
import { parseArgs } from 'node:util';
import { assemble } from '../../src/app/wire.ts';
import { realWorld } from '../../src/app/world.ts';
import { failpointHook } from '../../src/observe/failpoint-hook.ts';
import { batchSettings } from './batch-settings.ts';
import { report } from './program.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '' },
    database: { type: 'string' },
    url: { type: 'string', default: '' },
    isProvided: { type: 'string', default: 'no' },
    failpoint: { type: 'string' },
  },
});

const hook = values.failpoint === undefined ? undefined : failpointHook(values.failpoint);
const world = realWorld(hook);
/** Loops poll often, so that a short-lived process has work to lose. */
const speed = 10;
const { engine, batch, close } = await assemble({
  data: values.data,
  database: values.database,
  ...batchSettings(values.url, values.isProvided === 'yes'),
  world: { ...world, setTimer: (run, delayMs) => world.setTimer(run, delayMs / speed) },
  onError: (what, error) => report({ kind: 'error', what: `${what}: ${String(error)}` }),
});
await engine.start();
await batch.start();
report({ kind: 'ready', worker: engine.worker, at: Date.now() });
process.once('SIGTERM', async () => {
  await batch.stop();
  await engine.stop();
  await close();
  process.exit(0);
});
