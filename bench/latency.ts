/**
 * The time of a search from the query to its hits, in a store of many chunks, with the queries of
 * the collections: including embedding, words, vectors, feedback, folding and reading.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageVersion } from '../src/app/version.ts';
import { assemble } from '../src/app/wire.ts';
import { staticEmbedder } from '../src/provider/embedding/static-embedder.ts';
import type { FacetName } from '../src/search/facet.ts';
import { SavedCopies } from '../src/search/saved/saved-copies.ts';
import { Searcher } from '../src/search/search.ts';
import { Mirror } from '../src/search/vector/mirror.ts';
import { WordMirror } from '../src/search/word/word-mirror.ts';
import type { Database } from '../src/store/driver/database.ts';
import type { Collection } from './collection.ts';
import type { Figure, Section } from './measure/figure.ts';
import { fillStore, synthetic } from './synthetic.ts';

const modes = ['hybrid', 'keyword', 'vector'] as const;
/** By the metadata that `fillStore` writes. */
const filters = [
  ['filter for 1 of 200 documents', 'team = "t7"'],
  ['filter for 1 of 10 documents', 'tenth < 1'],
  ['filter for 9 of 10 documents', 'tenth != 3'],
] as const;
const facets: readonly FacetName[] = ['type', 'language', 'date', 'metadata.team'];

export interface LatencyOptions {
  readonly collections: readonly Collection[];
  readonly size: number;
  /** The target for the median of hybrid searches. */
  readonly targetMs: number;
  /** An existing store, which is not changed. */
  readonly store?: string | undefined;
  readonly rounds: number;
}

export async function benchLatency(options: LatencyOptions): Promise<Section> {
  const { collections, size, store, targetMs } = options;
  const data = store ?? mkdtempSync(join(tmpdir(), 'pawl-latency-'));
  const { database, close } = await assemble({ data });
  const words = new WordMirror(database);
  const searcher = new Searcher({ database, embedder: staticEmbedder(), words });
  try {
    if (store === undefined) await fillStore(database, collections, size);
    const before = process.memoryUsage().rss;
    const query = collections[0]?.queries[0]?.text.slice(0, 2000) ?? 'first';
    const first = await timed(() => searcher.search({ ...synthetic, query }));
    const held = await timed(async () => {
      await searcher.search({ ...synthetic, query });
      await words.whenRead();
    });
    const memory = (process.memoryUsage().rss - before) / 2 ** 20;
    const figures: Figure[] = [];
    for (const mode of modes) {
      const { median, p95, cpu } = await timeQueries(searcher, mode, options);
      const target = mode === 'hybrid' ? { target: { atMost: targetMs } } : {};
      figures.push(
        { name: `${mode}, median`, value: median, digits: 1, unit: 'ms', ...target },
        { name: `${mode}, 95 of 100`, value: p95, digits: 1, unit: 'ms' },
        { name: `${mode}, processor time`, value: cpu, digits: 1, unit: 'ms' },
      );
    }
    // An existing store may have no metadata.
    if (store === undefined) figures.push(...(await timeFilters(searcher, options)));
    const saved = await timeSaved(database, query);
    figures.push(
      { name: 'first search with a saved index', value: saved.ms, digits: 0, unit: 'ms' },
      { name: 'the same, processor time', value: saved.cpu, digits: 0, unit: 'ms' },
      { name: 'first search of a process', value: first.ms, digits: 0, unit: 'ms' },
      { name: 'first search, processor time', value: first.cpu, digits: 0, unit: 'ms' },
      { name: 'second search, until all is held', value: held.ms, digits: 0, unit: 'ms' },
      { name: 'second search, processor time', value: held.cpu, digits: 0, unit: 'ms' },
      { name: 'memory for words and vectors', value: memory, digits: 0, unit: 'MiB' },
    );
    const note = 'From the query to its ten hits, one after the other, on the embedded store.';
    return { title: `Search in ${size} chunks`, note, figures };
  } finally {
    await close();
    if (store === undefined) rmSync(data, { recursive: true, force: true });
  }
}

async function timeFilters(searcher: Searcher, options: LatencyOptions): Promise<Figure[]> {
  const figures: Figure[] = [];
  const add = async (name: string, more: Pick<TimedQueries, 'where' | 'facets'>) => {
    const { median, cpu } = await timeQueries(searcher, 'hybrid', { ...options, ...more });
    const target = more.facets ? { target: { atMost: options.targetMs } } : {};
    figures.push(
      { name: `hybrid, median, ${name}`, value: median, digits: 1, unit: 'ms', ...target },
      { name: `hybrid, processor time, ${name}`, value: cpu, digits: 1, unit: 'ms' },
    );
  };
  for (const [name, where] of filters) await add(name, { where });
  await add('that filter and four facets', { where: filters[2][1], facets });
  return figures;
}

/** The first search of a searcher that finds the index in files. */
async function timeSaved(database: Database, query: string) {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-index-'));
  const onError = (what: string, error: unknown): never => {
    throw new Error(`${what} failed`, { cause: error });
  };
  const open = () => {
    const of = { folder, database: database.early, version: packageVersion(), onError };
    const saved = new SavedCopies({ ...of, chunksMin: 1 });
    const mirror = new Mirror(database.early, { saved });
    const words = new WordMirror(database.early, { saved });
    const searcher = new Searcher({ database, embedder: staticEmbedder(), mirror, words, saved });
    return { searcher, saved };
  };
  try {
    const { searcher } = open();
    await searcher.search({ ...synthetic, query });
    await searcher.keep();
    const later = open();
    const span = await timed(() => later.searcher.search({ ...synthetic, query }));
    await later.saved.whenSaved();
    return span;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function timed(work: () => Promise<unknown>): Promise<{ ms: number; cpu: number }> {
  const before = process.cpuUsage();
  const startedAt = performance.now();
  await work();
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(before);
  return { ms, cpu: (user + system) / 1000 };
}

interface TimedQueries extends LatencyOptions {
  readonly where?: string;
  readonly facets?: readonly FacetName[];
}

async function timeQueries(
  searcher: Searcher,
  mode: (typeof modes)[number],
  { collections, rounds, where, facets }: TimedQueries,
) {
  const filter = where === undefined ? undefined : { where };
  // Some of each collection, long and short ones.
  const queries = collections.flatMap(({ queries: all }) =>
    all.filter((_, index) => index % 7 === 0).map(({ text }) => text.slice(0, 2000)),
  );
  const times: number[] = [];
  let cpuMicros = 0;
  for (let round = 0; round <= rounds; round++) {
    for (const query of queries) {
      const before = process.threadCpuUsage();
      const startedAt = performance.now();
      await searcher.search({ ...synthetic, query, mode, filter, facets });
      // The first round is a warm-up.
      if (round === 0) continue;
      times.push(performance.now() - startedAt);
      const { user, system } = process.threadCpuUsage(before);
      cpuMicros += user + system;
    }
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return { median: at(0.5), p95: at(0.95), cpu: cpuMicros / 1000 / times.length };
}
