/**
 * The server of `bench -- load`: Pawl as a service, with a key and the limits that a loaded service
 * has. Prints its address, and then for each line on stdin what was measured since the last one.
 */
import { createHash } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { startService } from '../../src/app/role/service.ts';

const [key = '', data = ''] = process.argv.slice(2);
const hash = createHash('sha256').update(key).digest('hex');
const service = await startService({
  data,
  host: '127.0.0.1',
  port: 0,
  log: { level: 'warn', write: () => undefined },
  keys: { apiKeys: [`sha256:${hash}`], rateCapacity: 1e9, rateFloor: 1e9 },
  queueDepthMax: Number.POSITIVE_INFINITY,
});
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
let cpu = process.cpuUsage();
process.stdout.write(`${service.address}\n`);
for await (const _ of createInterface({ input: process.stdin })) {
  const { user, system } = process.cpuUsage(cpu);
  cpu = process.cpuUsage();
  const held = { heldMs: delay.max / 1e6, heldP99Ms: delay.percentile(99) / 1e6 };
  delay.reset();
  process.stdout.write(`${JSON.stringify({ ...held, cpuMs: (user + system) / 1000 })}\n`);
}
await service.close();
