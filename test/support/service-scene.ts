/** An engine whose pages are fetched and embedded by services in the same process. */
import { HandoffBroker } from '../../src/handoff/orchestrator/broker.ts';
import { Callbacks } from '../../src/handoff/orchestrator/callbacks.ts';
import { handoffPipeline } from '../../src/handoff/orchestrator/pipeline.ts';
import { payloadsBy } from '../../src/handoff/payload.ts';
import { startWorker } from '../../src/handoff/worker/consumer.ts';
import { embeddingWorks, scraperWorks, type Works } from '../../src/handoff/worker/work.ts';
import { documentPipeline } from '../../src/pipeline/document.ts';
import { parse } from '../../src/pipeline/extract/format/parse.ts';
import type { Fetcher } from '../../src/pipeline/fetch/http/http.ts';
import { staticEmbedder } from '../../src/provider/embedding/static-embedder.ts';
import { EmbeddedQueue } from '../../src/queue/embedded.ts';
import type { EngineFixture } from './engine-fixture.ts';
import { extractor } from './local-extractor.ts';
import type { TestWorld } from './test-world.ts';

const workerPid = 500;

export async function startServices(
  bench: EngineFixture,
  pageOf: (path: string) => string,
): Promise<void> {
  const { store, world } = bench;
  const { database, liveness } = store;
  const payloads = payloadsBy();
  const onError = (what: string, error: unknown): void => {
    bench.errors.push(`${what}: ${String(error)}`);
  };
  const [scrapeJobs, embedJobs] = ['scrape_jobs', 'embed_jobs'].map(
    (name) => new EmbeddedQueue({ name, world }),
  ) as [EmbeddedQueue, EmbeddedQueue];
  const queues = { scrape_jobs: scrapeJobs, embed_jobs: embedJobs };
  const broker = new HandoffBroker({ database, world, liveness, payloads, queues, onError });
  broker.start();
  store.onRelease(() => broker.stop());
  const client = new Callbacks({ database, world, broker });
  const embedder = staticEmbedder();
  const pages = fetcherOf(pageOf);
  const services: [EmbeddedQueue, Works][] = [
    [scrapeJobs, scraperWorks({ fetcher: pages, parser: parse, world })],
    [
      embedJobs,
      embeddingWorks({ embedderOf: () => embedder, isConfigured: () => true, extractor }),
    ],
  ];
  store.livingPids.add(workerPid);
  const worker = { id: 'w', host: 'machine', pid: workerPid, process_started: '7' };
  for (const [queue, works] of services) {
    const options = { queue, client, payloads, world, worker, places: 4, onError };
    const consumer = await startWorker({ ...options, works: tracked(works, world) });
    store.onRelease(() => consumer.stop(0));
  }
  const documents = documentPipeline({
    blobs: { put: async () => 'unused', get: async () => new Uint8Array() },
    fetcher: { get: () => Promise.reject(new Error('the orchestrator fetches nothing')) },
    parser: parse,
    embedder,
  });
  const pipeline = handoffPipeline({
    documents,
    broker,
    embedder,
    parser: parse,
    isHere: () => false,
  });
  await bench.start({}, { pipeline });
}

/** Time stands still while a service works. */
function tracked(works: Works, world: TestWorld): Works {
  const all = Object.entries(works).map(([kind, work]) => [
    kind,
    (...given: Parameters<typeof work>) => world.track(work(...given)),
  ]);
  return Object.fromEntries(all);
}

/** A site without robots.txt. */
function fetcherOf(pageOf: (path: string) => string): Fetcher {
  return {
    get: async ({ url }) => {
      const isPage = url.pathname !== '/robots.txt';
      const bytes = Buffer.from(isPage ? pageOf(url.pathname) : '');
      const headers = new Map([['content-type', 'text/html; charset=utf-8']]);
      const status = isPage ? 200 : 404;
      return { url, status, headers, bytes, wireBytes: bytes.length, isCut: false, redirects: [] };
    },
  };
}
