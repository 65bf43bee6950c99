/**
 * Ranking quality of the default: nDCG@10 and recall@100 on collections with judgements, next to
 * BM25 alone, through the product's store and search. The weights of the three lists are chosen on
 * the queries with even ids, and reported on the others.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assemble } from '../src/app/wire.ts';
import { limits } from '../src/kernel/limits/limits.ts';
import { Analyzer } from '../src/pipeline/word/analysis.ts';
import { searchWordsOf } from '../src/pipeline/word/terms.ts';
import type { HybridWeights } from '../src/provider/embedding/embedding.ts';
import { staticEmbedder } from '../src/provider/embedding/static-embedder.ts';
import { FilterCache } from '../src/search/filter/filter-cache.ts';
import { type Fused, fuse, type RankedList } from '../src/search/fusion.ts';
import { parseQuery } from '../src/search/query/query.ts';
import { defaultWeights, rankPassages } from '../src/search/rank.ts';
import { Mirror } from '../src/search/vector/mirror.ts';
import { WordMirror } from '../src/search/word/word-mirror.ts';
import { expandSources } from '../src/source/sources.ts';
import { documentIdOf } from '../src/store/document/documents.ts';
import type { Database } from '../src/store/driver/database.ts';
import { sql } from '../src/store/driver/statement.ts';
import { listMatching } from '../src/store/search/passages.ts';
import { type Collection, type Grades, gainAt10, recallAt100 } from './collection.ts';
import type { Figure, Section } from './measure/figure.ts';

const caller = 'bench';
/**
 * About two standard errors of a difference of nDCG@10: less is not significant with so few
 * queries.
 */
const nearlyAsGood = 0.012;

interface Measured {
  readonly collection: string;
  readonly isHeldOut: boolean;
  readonly grades: Grades;
  readonly fused: readonly Fused[];
  readonly lists: readonly RankedList[];
  readonly keyword: readonly Fused[];
  /** By the full-text index of the database. */
  readonly database: readonly Fused[];
  readonly documentOf: (row: Fused) => string;
}

interface Score {
  readonly gain: number;
  readonly recall: number;
}

export interface RankingOptions {
  readonly collections: readonly Collection[];
  readonly tell: (line: string) => void;
}

export async function benchRanking({ collections, tell }: RankingOptions): Promise<Section[]> {
  const measured: Measured[] = [];
  for (const collection of collections) {
    tell(`ranking: ${collection.name}, ${collection.documents.length} documents`);
    measured.push(...(await measure(collection)));
  }
  const heldOut = measured.filter((row) => row.isHeldOut);
  const chosen = chooseWeights(measured.filter((row) => !row.isHeldOut));
  return [heldOutSection(heldOut, chosen), allSection(measured)];
}

type Rank = (row: Measured) => readonly Fused[];

function heldOutSection(rows: readonly Measured[], chosen: HybridWeights): Section {
  const keyword = byCollection(rows, (row) => row.keyword);
  const own = byCollection(rows, (row) => withWeights(row, chosen));
  const shipped = byCollection(rows, (row) => withWeights(row, defaultWeights));
  const figures = own.flatMap((score, index): Figure[] => {
    const bm25 = keyword[index]?.gain ?? 0;
    const isMean = score.name === 'mean';
    const target = { atLeast: isMean ? bm25 + 0.02 : bm25 };
    return [
      { name: `${score.name}, BM25 alone, nDCG@10`, value: bm25, digits: 3 },
      { name: `${score.name}, nDCG@10`, value: score.gain, digits: 3, target },
      { name: `${score.name}, recall@100`, value: score.recall, digits: 3 },
      {
        name: `${score.name}, nDCG@10 as shipped`,
        value: shipped[index]?.gain ?? 0,
        digits: 3,
      },
    ];
  });
  const isShipped = JSON.stringify(chosen) === JSON.stringify(defaultWeights);
  const note =
    `Weights chosen on the other half of the queries: ${weightsText(chosen)}; shipped: ` +
    `${isShipped ? 'the same' : weightsText(defaultWeights)}.`;
  return { title: 'Ranking, on the half that nothing was chosen on', note, figures };
}

function allSection(rows: readonly Measured[]): Section {
  const lists: readonly [string, Rank][] = [
    ['BM25 of FTS5', ({ database }) => database],
    ['BM25 of Pawl', ({ keyword }) => keyword],
    ['default', ({ fused }) => fused],
  ];
  const figures = lists.flatMap(([name, rank]) =>
    byCollection(rows, rank).flatMap((score): Figure[] => {
      const isAsked = name === 'default' && score.name === 'mean';
      const target = isAsked ? { target: { atLeast: 0.7 } } : {};
      return [
        { name: `${name}, ${score.name}, nDCG@10`, value: score.gain, digits: 3 },
        { name: `${name}, ${score.name}, recall@100`, value: score.recall, digits: 3, ...target },
      ];
    }),
  );
  return { title: 'Ranking, all queries', note: 'With the weights that are shipped.', figures };
}

function weightsText({ keyword, vector, feedback }: HybridWeights): string {
  return `keyword ${keyword}, vector ${vector}, feedback ${feedback}`;
}

async function measure(collection: Collection): Promise<Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-ranking-'));
  const { database, engine, close } = await assemble({ data: folder });
  try {
    await ingest(collection, engine, database);
    const documentOf = await placesOf(collection, database);
    const mirror = new Mirror(database);
    const words = new WordMirror(database);
    const options = {
      database,
      embedder: staticEmbedder(),
      mirror,
      words,
      filters: new FilterCache(database),
      analyzer: new Analyzer(),
      weights: defaultWeights,
    };
    const rows: Measured[] = [];
    for (const { id, text } of collection.queries) {
      const query = text.slice(0, 2000);
      const parsed = parseQuery(query, 'plain');
      const request = { caller, corpus: 'bench', query, parsed };
      const ranking = await rankPassages(options, request);
      rows.push({
        collection: collection.name,
        isHeldOut: Number(id) % 2 !== 0,
        grades: collection.qrels[id] ?? {},
        fused: ranking.fused,
        lists: ranking.lists,
        keyword: (await rankPassages(options, { ...request, mode: 'keyword' })).fused,
        database: await databaseRows(database, request),
        documentOf,
      });
    }
    return rows;
  } finally {
    await engine.stop();
    await close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Engine = Awaited<ReturnType<typeof assemble>>['engine'];

async function ingest({ documents }: Collection, engine: Engine, database: Database) {
  await engine.start();
  const inputs = documents
    .filter(({ text }) => /\w/.test(text))
    .map(({ id, text }) => ({ id, text }));
  const sources = await expandSources(inputs);
  const { jobKey } = await engine.commands.submit({ caller, corpus: 'bench', sources });
  const state = sql<{ state: string }>`SELECT state FROM jobs WHERE key = :key`;
  for (;;) {
    const [job] = await database.run(state, { key: jobKey });
    if (job && !['queued', 'running', 'retry_pending'].includes(job.state)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Maps passages to documents of the collection. */
async function placesOf({ documents }: Collection, database: Database) {
  const rows = await database.run(
    sql<{ id: string; source: string; generation_id: number }>`
      SELECT id, source, generation_id FROM documents`,
  );
  const names = new Map<string, string>();
  const sources = await expandSources(documents.map(({ id, text }) => ({ id, text })));
  sources.forEach(({ source }, index) => {
    names.set(documentIdOf(caller, 'bench', source), documents[index]?.id ?? '');
  });
  const byGeneration = new Map(rows.map((row) => [row.generation_id, names.get(row.id) ?? '']));
  return (row: Fused) => byGeneration.get(row.generation_id) ?? '';
}

async function databaseRows(
  database: Database,
  { query, ...of }: { caller: string; corpus: string; query: string },
): Promise<Fused[]> {
  const limit = limits.search.candidatesMax;
  const words = searchWordsOf(query);
  const rows = await listMatching(database, { ...of, words, filter: undefined, limit });
  return fuse([{ name: 'keyword', weight: 1, rows }]);
}

/** The documents in the order of their best passages. */
function documentsOf(row: Measured, fused: readonly Fused[]): string[] {
  return [...new Set(fused.map(row.documentOf))];
}

/** The same lists with other weights. */
function withWeights({ lists }: Measured, weights: HybridWeights): Fused[] {
  return fuse(lists.map((list) => ({ ...list, weight: weights[list.name] })));
}

function scoreOf(rows: readonly Measured[], rank: (row: Measured) => readonly Fused[]): Score {
  const scores = rows.map((row) => {
    const documents = documentsOf(row, rank(row));
    return { gain: gainAt10(documents, row.grades), recall: recallAt100(documents, row.grades) };
  });
  const mean = (pick: (score: Score) => number) =>
    scores.reduce((sum, score) => sum + pick(score), 0) / Math.max(scores.length, 1);
  return { gain: mean(({ gain }) => gain), recall: mean(({ recall }) => recall) };
}

/** Each collection counts the same, however many queries it has. */
function byCollection(rows: readonly Measured[], rank: (row: Measured) => readonly Fused[]) {
  const groups = [...Map.groupBy(rows, ({ collection }) => collection)];
  const each = groups.map(([name, some]) => ({ name, ...scoreOf(some, rank) }));
  const mean = (pick: (score: Score) => number) =>
    each.reduce((sum, score) => sum + pick(score), 0) / Math.max(each.length, 1);
  const total = { name: 'mean', gain: mean(({ gain }) => gain), recall: mean((s) => s.recall) };
  return [...each, total];
}

/**
 * The mean of all weights that are nearly as good as the best: the best alone would overfit to
 * these few queries. The gain over BM25 counts on average, and at its lowest.
 */
function chooseWeights(rows: readonly Measured[]): HybridWeights {
  const tried: { weights: HybridWeights; gain: number }[] = [];
  const bm25 = byCollection(rows, ({ keyword }) => keyword);
  // Vectors always have a weight: only they find paraphrases.
  for (let vector = 1; vector <= 4; vector++) {
    for (let feedback = 0; feedback + vector <= 8; feedback++) {
      const keyword = 10 - vector - feedback;
      const weights = { keyword: keyword / 10, vector: vector / 10, feedback: feedback / 10 };
      const scores = byCollection(rows, (row) => withWeights(row, weights));
      const gains = scores.map(({ gain }, index) => gain - (bm25[index]?.gain ?? 0));
      tried.push({ weights, gain: (gains.at(-1) ?? 0) + Math.min(...gains) });
    }
  }
  const best = Math.max(...tried.map(({ gain }) => gain));
  const good = tried.filter(({ gain }) => gain >= best - nearlyAsGood);
  const middle = (list: keyof HybridWeights) =>
    Math.round((good.reduce((sum, { weights }) => sum + weights[list], 0) / good.length) * 20) / 20;
  const [vector, feedback] = [middle('vector'), middle('feedback')];
  return { keyword: Math.round((1 - vector - feedback) * 20) / 20, vector, feedback };
}
