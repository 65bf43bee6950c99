/** The suites of `npm run bench` besides the engine. */
import { existsSync } from 'node:fs';
import { benchApi } from './api.ts';
import { benchChunking } from './chunking.ts';
import { readCollections } from './collection.ts';
import { benchControl } from './control.ts';
import { benchExtraction } from './extraction.ts';
import { benchFidelity } from './fidelity/suite.ts';
import { benchHostile } from './hostile/suite.ts';
import { benchLatency } from './latency.ts';
import { benchLoad } from './load/suite.ts';
import { benchManual, manualNames } from './manual.ts';
import type { Section } from './measure/figure.ts';
import { benchPipeline } from './pipeline/suite.ts';
import { benchPoints } from './points.ts';
import { benchProducts } from './products/suite.ts';
import { benchRanking } from './ranking.ts';
import { benchServices } from './services.ts';
import { benchStreams } from './streams.ts';
import { benchSync } from './sync.ts';
import { benchVectors } from './vectors.ts';

export const suites = [
  'search',
  'manual',
  'chunking',
  'extraction',
  'fidelity',
  'pipeline',
  'pgvector',
  'api',
  'services',
  'control',
  'load',
  'hostile',
  'sync',
  'peers',
] as const;
type SuiteName = (typeof suites)[number];

export interface SuiteOptions {
  /** The folder of the collections. */
  readonly data: string | undefined;
  readonly trafilatura: string | undefined;
  /** Words in the name of the parts to measure, if a suite has parts. */
  readonly only: readonly string[];
  /** The seed for the choice of pages, if a suite chooses. */
  readonly seed: number;
  /** How many pages, if the suite lets choose. */
  readonly pages?: number | undefined;
  readonly isQuick: boolean;
  readonly tell: (line: string) => void;
}

const collectionsText = 'a folder with collections (NAME.json.gz: documents, queries, qrels)';
const wanted: Readonly<
  Record<
    Exclude<
      SuiteName,
      | 'manual'
      | 'fidelity'
      | 'pipeline'
      | 'pgvector'
      | 'api'
      | 'services'
      | 'control'
      | 'load'
      | 'hostile'
      | 'sync'
      | 'peers'
    >,
    string
  >
> = {
  search: collectionsText,
  chunking: collectionsText,
  extraction: 'a checkout of the article extraction benchmark (ground-truth.json, html/)',
};

export function isSuite(name: string): name is SuiteName {
  return suites.some((suite) => suite === name);
}

/** Undefined if there is nothing to measure with. */
export async function runSuite(name: SuiteName, options: SuiteOptions): Promise<Section[]> {
  const { data, trafilatura, seed, only, pages, isQuick, tell } = options;
  if (name === 'api') {
    return [...(await benchApi({ isQuick, tell })), await benchStreams({ isQuick, tell })];
  }
  if (name === 'manual') {
    const embedder = process.env.PAWL_EMBEDDER ?? 'local';
    const [wantedName = 'python'] = only;
    const manual = manualNames.find((one) => one === wantedName);
    if (!manual) throw new Error(`--only is one of ${manualNames.join(', ')}`);
    return benchManual({ name: manual, data, embedder, tell });
  }
  if (name === 'pipeline') return benchPipeline({ isQuick, tell });
  if (name === 'pgvector') return benchPoints({ isQuick, tell });
  if (name === 'services') return benchServices({ isQuick, tell });
  if (name === 'control') return benchControl({ isQuick, tell });
  if (name === 'load') return benchLoad({ isQuick, tell });
  if (name === 'hostile') return benchHostile({ isQuick, tell });
  if (name === 'peers')
    return benchProducts({ seed, only, pages: pages ?? (isQuick ? 100 : 1000), tell });
  if (name === 'sync') return benchSync({ isQuick, tell });
  if (name === 'extraction') return benchExtraction({ data, trafilatura, isQuick, tell });
  if (name === 'fidelity') return benchFidelity({ data, seed, only, isQuick, tell });
  if (data === undefined || !existsSync(data)) {
    tell(`${name}: skipped. Give ${wanted[name]} with --data DIR.`);
    return [];
  }
  if (name === 'chunking') return [await benchChunking({ data, isQuick, tell })];
  return searchSections({ data, isQuick, tell });
}

async function searchSections({
  data,
  isQuick,
  tell,
}: {
  data: string;
  isQuick: boolean;
  tell: (line: string) => void;
}): Promise<Section[]> {
  const collections = readCollections(data);
  const some = isQuick ? collections.slice(0, 2) : collections;
  const sections = await benchRanking({ collections: some, tell });
  const sizes = isQuick
    ? [{ size: 10_000, targetMs: 15 }]
    : [
        { size: 100_000, targetMs: 15 },
        { size: 1_000_000, targetMs: 100 },
      ];
  for (const { size, targetMs } of sizes) {
    tell(`vectors: ${size}`);
    sections.push(benchVectors({ size, queries: 50 }));
    tell(`search in ${size} chunks`);
    sections.push(await benchLatency({ collections, size, targetMs, rounds: isQuick ? 1 : 3 }));
  }
  return sections;
}
