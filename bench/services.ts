/**
 * Documents through four services, with 1, 2 and 4 workers per stage, next to empty messages
 * through plain BullMQ on the same Redis in the same run. The overhead per document is the
 * orchestrator's CPU time.
 */
import { readFileSync } from 'node:fs';
import { Queue, Worker } from 'bullmq';
import { Services } from '../test/support/services.ts';
import { ended, openPages, type Pages, submit } from '../test/support/services-load.ts';
import type { Section } from './measure/figure.ts';
import { serverSeconds } from './measure/usage.ts';

export interface ServicesBench {
  readonly isQuick: boolean;
  readonly tell: (line: string) => void;
}

interface Measured {
  readonly workers: number;
  readonly documentsPerSecond: number;
  readonly orchestratorMs: number;
  /** Of all scrapers, embedding and chunking services, with their parser processes. */
  readonly workersMs: number;
  readonly plainPerSecond: number;
}

/** As many hops as a document has: visit, embed, entities. */
const hops = 3;
/** Documents before the measurement, for each worker of a stage. */
const warmUp = 40;

export async function benchServices({ isQuick, tell }: ServicesBench): Promise<Section[]> {
  const documents = isQuick ? 100 : 1000;
  const pages = await openPages();
  const measured: Measured[] = [];
  try {
    for (const workers of isQuick ? [1, 2] : [1, 2, 4]) {
      tell(`services: ${documents} documents, ${workers} workers for each stage`);
      measured.push(await measure(pages, { workers, documents }));
    }
  } finally {
    pages.close();
  }
  return [sectionOf(measured, documents)];
}

async function measure(
  pages: Pages,
  { workers, documents }: { workers: number; documents: number },
): Promise<Measured> {
  const services = await Services.start({
    allowHosts: [pages.host],
    durable: true,
    environment: { PAWL_WORKERS: '128' },
  });
  try {
    for (let more = 1; more < workers; more++) {
      await Promise.all([services.add('scraper'), services.add('embedding')]);
    }
    // Warm-up of tables, and of models and parser processes of each worker.
    await run(services, pages, { corpus: `warm-${workers}`, count: warmUp * workers });
    const { pid } = services.orchestrator;
    const before = processorMs(pid);
    const workersBefore = workersMsOf(services);
    const corpus = `bench-${workers}`;
    const seconds = await run(services, pages, { corpus, count: documents });
    const orchestratorMs = (processorMs(pid) - before) / documents;
    const workersMs = (workersMsOf(services) - workersBefore) / documents;
    const plainPerSecond = await plain(services.redis.scrape.url, { workers, documents });
    const documentsPerSecond = documents / seconds;
    return { workers, documentsPerSecond, orchestratorMs, workersMs, plainPerSecond };
  } finally {
    await services.stop();
  }
}

async function run(
  services: Services,
  pages: Pages,
  { corpus, count }: { corpus: string; count: number },
): Promise<number> {
  const urls = Array.from({ length: count }, (_, index) => pages.url(`${corpus}-${index}`));
  const startedAt = performance.now();
  const id = await submit(services, { corpus, urls });
  const { items_done } = await ended(services, id);
  if (items_done !== count) throw new Error(`${items_done} of ${count} documents are done`);
  return (performance.now() - startedAt) / 1000;
}

function workersMsOf({ processes, orchestrator }: Services): number {
  const workers = processes.filter((process) => process !== orchestrator);
  return workers.reduce((sum, { pid }) => sum + (serverSeconds(pid) ?? 0) * 1000, 0);
}

/** CPU time of a process so far; Linux counts a hundred ticks per second. */
function processorMs(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Documents per second if each were three sequential empty messages. */
async function plain(
  url: string,
  { workers, documents }: { workers: number; documents: number },
): Promise<number> {
  const { hostname: host, port } = new URL(url);
  const connection = { host, port: Number(port) };
  const queue = new Queue('plain', { connection });
  let left = documents;
  const { promise, resolve } = Promise.withResolvers<void>();
  const step = async ({ data }: { data: { hop: number } }): Promise<void> => {
    if (data.hop < hops) await queue.add('hop', { hop: data.hop + 1 });
    else if (--left === 0) resolve();
  };
  const consumers = Array.from(
    { length: workers },
    () => new Worker('plain', step, { connection, concurrency: 16 }),
  );
  const startedAt = performance.now();
  await queue.addBulk(Array.from({ length: documents }, () => ({ name: 'hop', data: { hop: 1 } })));
  await promise;
  const seconds = (performance.now() - startedAt) / 1000;
  await Promise.all(consumers.map((consumer) => consumer.close()));
  await queue.close();
  return documents / seconds;
}

function sectionOf(measured: readonly Measured[], documents: number): Section {
  const figures = measured.flatMap(({ workers, ...values }) => [
    {
      name: `documents through four services, ${workers} workers for each stage`,
      value: values.documentsPerSecond,
      digits: 1,
      unit: '/s',
    },
    {
      name: `the orchestrator's processor time for a document, ${workers} workers`,
      value: values.orchestratorMs,
      digits: 2,
      unit: 'ms',
    },
    {
      name: `the workers' processor time for a document, ${workers} workers`,
      value: values.workersMs,
      digits: 2,
      unit: 'ms',
    },
    {
      name: `documents of ${hops} empty messages through plain BullMQ, ${workers} workers`,
      value: values.plainPerSecond,
      digits: 0,
      unit: '/s',
    },
  ]);
  return {
    title: 'The services',
    note:
      `${documents} pages of a site on this machine to searchable documents; Postgres with full ` +
      'durability, three Redis, all processes on this machine.',
    figures,
  };
}
