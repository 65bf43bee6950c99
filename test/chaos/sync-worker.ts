/** A process that follows sources until it is killed or stopped by SIGTERM. */
import { parseArgs } from 'node:util';
import { assemble } from '../../src/app/wire.ts';
import { realWorld } from '../../src/app/world.ts';
import { failpointHook } from '../../src/observe/failpoint-hook.ts';
import { report } from './program.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '' },
    database: { type: 'string' },
    opening: { type: 'string', default: '{}' },
    failpoint: { type: 'string' },
  },
});

const hook = values.failpoint === undefined ? undefined : failpointHook(values.failpoint);
const { engine, close } = await assemble({
  data: values.data,
  database: values.database,
  world: realWorld(hook),
  ...JSON.parse(values.opening),
  onError: (what, error) => report({ kind: 'error', what: `${what}: ${String(error)}` }),
});
await engine.start();
report({ kind: 'ready', worker: engine.worker, at: Date.now() });
process.once('SIGTERM', async () => {
  await engine.stop();
  await close();
  process.exit(0);
});
