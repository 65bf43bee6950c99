/** Batch tasks on a store, with providers of the test, and time that it controls. */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { realWorld } from '../../../src/app/world.ts';
import type { BlobStore } from '../../../src/blob/blob.ts';
import { BatchCommands } from '../../../src/engine/batch/commands.ts';
import { settleEnded } from '../../../src/engine/batch/lane.ts';
import { BatchProviders } from '../../../src/engine/batch/plan.ts';
import type { BatchOptions } from '../../../src/engine/batch/submit.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import type { ProviderState } from '../../../src/kernel/provider-state.ts';
import type { World } from '../../../src/kernel/world.ts';
import type { BatchProvider } from '../../../src/provider/batch/batch-provider.ts';
import { Endpoint } from '../../../src/provider/batch/endpoint.ts';
import {
  type BatchTaskRow,
  getBatchTask,
  providerStateOf,
} from '../../../src/store/batch/tasks.ts';
import type { StoreFixture } from '../store-fixture.ts';
import { reconcile, submitDue } from './rounds.ts';

export function memoryBlobs(): BlobStore & { readonly held: Map<string, Uint8Array> } {
  const held = new Map<string, Uint8Array>();
  return {
    held,
    put: async (bytes) => {
      const key = createHash('sha256').update(bytes).digest('hex');
      held.set(key, bytes);
      return key;
    },
    get: async (key) => held.get(key) ?? Buffer.alloc(0),
  };
}

/** An endpoint of a server of the test, with real time for the network. */
export function endpointOf(url: string, more: Partial<{ world: World }> = {}): Endpoint {
  const authorize = async () => ({ authorization: 'Bearer key-of-the-test' });
  return new Endpoint({ name: 'provider', url, world: realWorld(), authorize, ...more });
}

export class BatchFixture {
  readonly store: StoreFixture;
  readonly blobs = memoryBlobs();
  readonly errors: string[] = [];
  readonly options: BatchOptions;
  readonly commands: BatchCommands;
  readonly signal = new AbortController().signal;

  constructor(store: StoreFixture, providers: readonly BatchProvider[]) {
    this.store = store;
    const { database, world } = store;
    this.options = {
      database,
      world,
      blobs: this.blobs,
      providers: new BatchProviders(providers),
      onEnd: settleEnded,
      onError: (what, error) => this.errors.push(`${what}: ${String(error)}`),
    };
    this.commands = new BatchCommands({ ...this.options, ring: () => undefined });
  }

  async submit(body: unknown): Promise<string> {
    return (await this.commands.submit('ann', body)).key;
  }

  deliver(): Promise<number> {
    return submitDue(this.options, this.signal);
  }

  /** Lets one interval pass, and polls due tasks. */
  async poll(times = 1): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      this.store.world.skip(limits.batch.pollIntervalMs * 1.2);
      await reconcile(this.options, this.signal);
    }
  }

  async task(key: string): Promise<BatchTaskRow> {
    const row = await getBatchTask(this.store.database, key, 'ann');
    if (!row) throw new Error(`task ${key} is not stored`);
    return row;
  }

  async state(key: string): Promise<ProviderState> {
    const state = providerStateOf(await this.task(key));
    if (!state) throw new Error(`task ${key} has no provider state`);
    return state;
  }

  async output(key: string): Promise<unknown> {
    const { output_key: blob } = await this.task(key);
    if (blob === null) return undefined;
    return JSON.parse(Buffer.from(await this.blobs.get(blob)).toString());
  }

  async story(): Promise<string[]> {
    const story = await this.store.story();
    return story.filter((line) => line.startsWith('batch_'));
  }
}
