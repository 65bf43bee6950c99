/** The settings of processes that share a batch provider; some have its key, and some do not. */
import type { ProviderSettings } from '../../src/app/adapter/batch-providers.ts';

/** Longer than a process stalls on a busy machine, and short enough to wait for. */
const holdMs = 8_000;

export function batchSettings(url: string, isProvided: boolean) {
  return {
    extractor: { model: 'gpt-4o-mini', url, key: 'key' },
    batchProviders: (isProvided ? { openai: { url, key: 'key' } } : {}) as ProviderSettings,
    batchPollMs: 20,
    batchGatherMs: 100,
    batchHoldMs: holdMs,
  };
}
