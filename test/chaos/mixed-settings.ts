/**
 * Services with different settings: one orchestrator and one embedding worker have the paid
 * embedder, the others of their roles do not. Orchestrators and scrapers are killed in a seeded
 * order. No document may be lost, and no text may be paid for twice: a response of the provider is
 * with a live worker, or on disk.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { startOpenaiServer } from '../support/openai-server.ts';
import { patience } from '../support/patience.ts';
import { Services } from '../support/services.ts';
import { ended, judge, openPages, submit } from '../support/services-load.ts';
import { until } from '../support/wait.ts';
import { chanceFrom } from './chance.ts';
import { reasonsOf } from './services.ts';

export interface MixedSettings {
  readonly kills: number;
  readonly documents: number;
  readonly seed: number;
}

export interface MixedVerdict {
  readonly documents: number;
  readonly lost: number;
  readonly duplicated: number;
  readonly stuck: number;
  readonly failed: number;
  /** The failure messages. */
  readonly reasons: readonly string[];
  readonly paidTwice: number;
  /** Texts that the provider has answered. */
  readonly paid: number;
}

const corpus = 'mixed';
const restMsMax = 1500;
const without = { PAWL_EMBEDDER: 'local', PAWL_EMBEDDER_URL: '', PAWL_EMBEDDER_KEY: '' };

export async function mixSettings(options: MixedSettings): Promise<MixedVerdict> {
  const { kills, documents, seed } = options;
  const chance = chanceFrom(seed);
  const provider = await startOpenaiServer();
  const pages = await openPages();
  const services = await Services.start({
    allowHosts: [pages.host],
    environment: {
      PAWL_EMBEDDER: 'openai:text-embedding-3-small@8',
      PAWL_EMBEDDER_URL: provider.url,
      PAWL_EMBEDDER_KEY: 'the-key-of-the-provider',
    },
  });
  const urlsOf = (job: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => pages.url(`${job}-${index}`));
  try {
    // A process that has the embedder chooses the model of the corpus; from then on all must use
    // it.
    await ended(services, await submit(services, { corpus, urls: urlsOf('first', 1) }));
    await services.add('embedding', without);
    await services.add('orchestrator', without);
    const id = await submit(services, { corpus, urls: urlsOf('mixed', documents) });
    const killed = services.processes.filter(
      ({ role }) => role === 'orchestrator' || role === 'scraper',
    );
    for (let kill = 0; kill < kills; kill++) {
      await pause(chance.below(restMsMax));
      // First the orchestrator with the embedder: the other one continues its documents.
      await killed[kill === 0 ? 0 : chance.below(killed.length)]?.restart();
    }
    const { items_failed: failed } = await until(() => ended(services, id), {
      what: 'the job to end',
      patienceMs: patience.testMs,
    });
    const verdict = await judge(services, corpus, documents + 1);
    const { answered } = provider;
    const paidTwice = answered.length - new Set(answered).size;
    const { lost, duplicated, stuck } = verdict;
    const counts = { documents: verdict.documents, paid: answered.length, paidTwice };
    const reasons = failed > 0 ? await reasonsOf(services) : [];
    return { ...counts, lost, duplicated, stuck, failed, reasons };
  } finally {
    await services.stop();
    pages.close();
    await provider.close();
  }
}
