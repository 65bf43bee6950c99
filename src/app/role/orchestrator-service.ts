/** The orchestrator: the service with the store; other processes do the work of its steps. */
import { remoteChunker } from '../../handoff/orchestrator/chunk-client.ts';
import { spreadPost } from '../../handoff/round-robin.ts';
import { servicePost } from '../../handoff/worker/orchestrator-client.ts';
import type { World } from '../../kernel/world.ts';
import { makeLog } from '../../observe/log.ts';
import type { Chunker } from '../../pipeline/chunk/chunker.ts';
import { openQueues } from '../adapter/queues.ts';
import { listOf } from '../settings/forms.ts';
import type { RedisAddresses } from '../settings/redis.ts';
import { realWorld } from '../world.ts';
import { type RunningService, type ServiceOptions, startService } from './service.ts';

export interface OrchestratorOptions extends Omit<ServiceOptions, 'services'> {
  readonly internalKey: string;
  /** One address, or several separated by commas. */
  readonly chunkingUrl: string;
  readonly addresses: RedisAddresses;
  readonly world?: World | undefined;
}

export async function startOrchestrator(options: OrchestratorOptions): Promise<RunningService> {
  const { internalKey: key, chunkingUrl, addresses, world = realWorld() } = options;
  const log = makeLog(options.log.level, options.log.write);
  const { queues, close: closeQueues } = await openQueues({ addresses, world, log });
  const posts = listOf(chunkingUrl).map((url) => servicePost({ url, key, world }));
  const post = spreadPost(posts, world);
  const chunker = (here: Chunker): Chunker => remoteChunker(post, here);
  try {
    const service = await startService({ ...options, world, services: { queues, chunker } });
    const close = (): Promise<void> => service.close().finally(closeQueues);
    return { ...service, close };
  } catch (error) {
    await closeQueues();
    throw error;
  }
}
