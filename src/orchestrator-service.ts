/** The orchestrator: the service with the store, whose steps are worked on in other processes. */
import { cut } from './attempt/cut.ts';
import { remoteCutter } from './handoff/cutter.ts';
import { servicePost } from './handoff/link.ts';
import type { QueueName } from './handoff/question.ts';
import { Failure } from './kernel/failure.ts';
import type { World } from './kernel/world.ts';
import { makeLog } from './observe/log.ts';
import { openBullQueue } from './queue/bullmq.ts';
import type { Queue } from './queue/queue.ts';
import { redisOf } from './roles.ts';
import { type RunningService, type ServiceOptions, startService } from './service.ts';
import { realWorld } from './world.ts';

export interface OrchestratorOptions extends Omit<ServiceOptions, 'services'> {
  readonly internalKey: string;
  readonly chunkingUrl: string;
  readonly redis: Parameters<typeof redisOf>[1];
  readonly world?: World | undefined;
}

export async function startOrchestrator(options: OrchestratorOptions): Promise<RunningService> {
  const { internalKey: key, chunkingUrl: url, redis, world = realWorld(), log } = options;
  const told = makeLog(log.level, log.write);
  const open = (name: QueueName): Promise<Queue> => {
    const address = redisOf(name, redis);
    if (address === undefined) throw new Failure('usage_error', `no Redis is given for ${name}`);
    return openBullQueue({ name, url: address, world, log: told });
  };
  const scrape = await open('scrape_jobs');
  const embed = await open('embed_jobs').catch(async (error: unknown) => {
    await scrape.close();
    throw error;
  });
  const closeQueues = async (): Promise<void> => {
    await Promise.all([scrape.close(), embed.close()]);
  };
  const cutter = remoteCutter(servicePost({ url, key, world }), cut);
  const queues = { scrape_jobs: scrape, embed_jobs: embed };
  try {
    const service = await startService({ ...options, world, services: { queues, cutter } });
    const close = (): Promise<void> => service.close().finally(closeQueues);
    return { ...service, close };
  } catch (error) {
    await closeQueues();
    throw error;
  }
}
