/** The service routes (scrape, chunk, embed) of a single process, for requests without a job. */

import type { Assembled } from '../app/wire.ts';
import { thisProcess } from '../engine/item/liveness.ts';
import type { WorkerName } from '../handoff/orchestrator/broker.ts';
import type { OrchestratorClient } from '../handoff/orchestrator/callbacks.ts';
import { payloadsBy } from '../handoff/payload.ts';
import type { QueueName } from '../handoff/request.ts';
import { startWorker } from '../handoff/worker/consumer.ts';
import type { Stage } from '../kernel/lifecycle/stage.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import { allowedHosts } from '../pipeline/fetch/address.ts';
import { checkTarget } from '../pipeline/fetch/http/resolve.ts';
import { Turns } from '../pipeline/fetch/robots/domain-throttle.ts';
import { readUrl } from '../pipeline/fetch/url.ts';
import { fromSignedBytes } from '../provider/embedding/vector-bytes.ts';
import { EmbeddedQueue } from '../queue/embedded.ts';
import { memoryResponses } from '../redis/memory-responses.ts';
import { Enqueued } from '../service/enqueued.ts';
import type { WorkServices } from '../service/handler/services.ts';

export interface StandaloneOptions {
  readonly callbacks: OrchestratorClient;
  readonly options: {
    readonly allowHosts?: readonly string[] | undefined;
    readonly syncMs?: Partial<Record<Stage, number>> | undefined;
    readonly queueDepthMax?: number | undefined;
  };
  readonly onError: (what: string, error: unknown) => void;
}

export const placesOf: Readonly<Record<QueueName, number>> = {
  scrape_jobs: limits.handoff.placesScrape,
  embed_jobs: limits.handoff.placesEmbed,
};

export async function openStandalone(
  { works, world, embedder, chunker }: Pick<Assembled, 'works' | 'world' | 'embedder' | 'chunker'>,
  { callbacks: client, options, onError }: StandaloneOptions,
) {
  const payloads = payloadsBy();
  const enqueued = new Enqueued({ answers: memoryResponses(world), payloads, world });
  const open = async (name: QueueName) => {
    const queue = new EmbeddedQueue({ name, world });
    const worker = workerName(world);
    const parts = { works, world, worker, onError, payloads, client: enqueued.before(client) };
    const consumer = await startWorker({ ...parts, queue, places: placesOf[name] });
    return { queue, consumer };
  };
  const [visit, embed] = await Promise.all([open('scrape_jobs'), open('embed_jobs')]);
  const clients: WorkServices = {
    ...workServicesOf({ world, allowHosts: options.allowHosts, syncMs: options.syncMs }),
    works,
    chunker,
    model: embedder.model,
    queueDepthMax: options.queueDepthMax,
    enqueued,
    queues: { visit: visit.queue, embed: embed.queue },
  };
  const close = async (): Promise<void> => {
    await Promise.all([visit, embed].map(({ consumer }) => consumer.stop(0)));
    await Promise.all([visit, embed].map(({ queue }) => queue.close()));
  };
  return { clients, close };
}

/** The part that is the same for service routes in one process and in worker roles. */
export function workServicesOf({
  world,
  allowHosts = [],
  syncMs = {},
}: StandaloneOptions['options'] & { readonly world: World }) {
  const allowed = allowedHosts(allowHosts);
  return {
    world,
    turns: new Turns(world),
    decode: fromSignedBytes,
    checkUrl: (url: string) => checkTarget(readUrl(url), allowed),
    syncMs: { ...limits.step.syncMs, ...syncMs },
  };
}

/** Identifies a worker process, so that others on its machine can detect its death. */
export function workerName(world: World): WorkerName {
  const { host, pid, processStarted } = thisProcess();
  return { id: world.uuid().slice(-12), host, pid, process_started: processStarted };
}
