/**
 * The servers that `bench/api.ts` measures, each as a process of its own: Pawl with a key and its
 * limits on, and a bare Fastify that gives the same answer.
 *
 *   node bench/api-server.ts pawl KEY | working KEY | bare ANSWER
 *
 * `pawl` only accepts: what the work itself costs is measured by `npm run bench -- engine`.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify from 'fastify';
import { startService } from '../src/app/role/service.ts';

const [kind, given = ''] = process.argv.slice(2);
if (kind === 'pawl') await servePawl(given);
else if (kind === 'working') await servePawl(given, true);
else await serveBare(JSON.parse(given));

async function servePawl(key: string, work = false): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'pawl-bench-'));
  const hash = createHash('sha256').update(key).digest('hex');
  const service = await startService({
    data,
    host: '127.0.0.1',
    port: 0,
    // Audits are written and discarded; the capacity is above what the measurement reaches.
    log: { level: 'warn', write: () => undefined },
    keys: { apiKeys: [`sha256:${hash}`], rateCapacity: 1e9, rateFloor: 1e9 },
    queueDepthMax: Number.POSITIVE_INFINITY,
    work,
  });
  process.stdout.write(`${service.address}\n`);
  process.once('SIGTERM', async () => {
    await service.close();
    rmSync(data, { recursive: true, force: true });
  });
}

async function serveBare(answer: unknown): Promise<void> {
  const app = Fastify();
  app.get('/jobs/:id', async () => answer);
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  process.stdout.write(`${address}\n`);
  process.once('SIGTERM', () => void app.close());
}
