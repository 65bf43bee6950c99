/** A process that works on the store until it is killed or stopped by SIGTERM. */
import { parseArgs } from 'node:util';
import { assemble } from '../../src/app/wire.ts';
import { realWorld } from '../../src/app/world.ts';
import { failpointHook } from '../../src/observe/failpoint-hook.ts';
import { chanceFrom } from './chance.ts';
import { metered, meteredExtractor, meteredProvider } from './metered.ts';
import { report } from './program.ts';
import { openLines } from './submission-log.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '' },
    database: { type: 'string' },
    provider: { type: 'string', default: '' },
    completions: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
    places: { type: 'string', default: '8' },
    stepMsMax: { type: 'string', default: '4' },
    failureRate: { type: 'string', default: '0.03' },
    lossRate: { type: 'string', default: '0.08' },
    failpoint: { type: 'string' },
    diary: { type: 'string', default: '' },
  },
});

const chance = chanceFrom(Number(values.seed));
const hook = values.failpoint === undefined ? undefined : failpointHook(values.failpoint);
const { engine, close } = await assemble({
  data: values.data,
  database: values.database,
  workers: Number(values.places),
  // Retries come soon: a wait of seconds would test nothing but patience.
  world: { ...realWorld(hook), random: () => chance.next() * 0.05 },
  embedder: meteredProvider(values.provider),
  extractor: meteredExtractor(values.completions),
  pipeline: metered({
    chance,
    stepMsMax: Number(values.stepMsMax),
    failureRate: Number(values.failureRate),
    lossRate: Number(values.lossRate),
    diary: openLines(values.diary),
  }),
  onError: (what, error) => report({ kind: 'error', what: `${what}: ${String(error)}` }),
});
await engine.start();
report({ kind: 'ready', worker: engine.worker, at: Date.now() });
process.once('SIGTERM', async () => {
  await engine.stop();
  await close();
  process.exit(0);
});
