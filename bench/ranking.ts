/**
 * How well the default ranks: nDCG@10 and recall@100 on collections with judgements, beside BM25
 * alone, through the store and the search of the product.
 *
 *   node bench/ranking.ts --data ../shared/data/ir
 *
 * The weights of the three lists are chosen on one half of the queries, by their hash, and reported
 * on the other half; the shipped weights are reported on both.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { assemble } from '../src/main.ts';
import { staticEmbedder } from '../src/provider/static-embedder.ts';
import type { Fused } from '../src/search/fusion.ts';
import { defaultWeights, rankPassages, type Weights } from '../src/search/rank.ts';
import { stemmer } from '../src/search/terms.ts';
import { Mirror } from '../src/search/vector/mirror.ts';
import { WordMirror } from '../src/search/word/word-mirror.ts';
import { expandSources } from '../src/sources.ts';
import type { Database } from '../src/store/database.ts';
import { documentIdOf } from '../src/store/documents.ts';
import { sql } from '../src/store/statement.ts';
import {
  type Collection,
  type Grades,
  gainAt10,
  readCollections,
  recallAt100,
} from './collection.ts';

const caller = 'bench';

interface Measured {
  readonly collection: string;
  readonly isHeldOut: boolean;
  readonly grades: Grades;
  readonly fused: readonly Fused[];
  readonly keyword: readonly Fused[];
  readonly documentOf: (row: Fused) => string;
}

interface Score {
  readonly gain: number;
  readonly recall: number;
}

const { values } = parseArgs({
  options: { data: { type: 'string', default: '../shared/data/ir' }, json: { type: 'boolean' } },
});
const measured: Measured[] = [];
for (const collection of readCollections(values.data))
  measured.push(...(await measure(collection)));
report();

async function measure(collection: Collection): Promise<Measured[]> {
  console.error(`${collection.name}: ${collection.documents.length} documents`);
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
      stemOf: stemmer(),
      weights: defaultWeights,
    };
    const rows: Measured[] = [];
    for (const { id, text } of collection.queries) {
      const request = { caller, corpus: 'bench', query: text.slice(0, 2000) };
      rows.push({
        collection: collection.name,
        isHeldOut: isHeldOut(`${collection.name}/${id}`),
        grades: collection.qrels[id] ?? {},
        fused: (await rankPassages(options, request)).fused,
        keyword: (await rankPassages(options, { ...request, mode: 'keyword' })).fused,
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

/** Which document of the collection a passage is of. */
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

function isHeldOut(key: string): boolean {
  return (createHash('sha256').update(key).digest()[0] ?? 0) % 2 === 1;
}

/** The documents in the order of their best passages. */
function documentsOf(row: Measured, fused: readonly Fused[]): string[] {
  return [...new Set(fused.map(row.documentOf))];
}

/** The same lists with other weights. */
function withWeights({ fused }: Measured, weights: Weights): Fused[] {
  return fused
    .map((row) => ({
      ...row,
      score: row.parts.reduce((sum, part) => sum + weights[part.list] * part.scaled, 0),
    }))
    .sort((a, b) => b.score - a.score);
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

function chooseWeights(rows: readonly Measured[]): Weights {
  let best = { weights: defaultWeights, gain: -1 };
  for (let vector = 0; vector <= 4; vector++) {
    for (let feedback = 0; feedback + vector <= 8; feedback++) {
      const keyword = 10 - vector - feedback;
      const weights = { keyword: keyword / 10, vector: vector / 10, feedback: feedback / 10 };
      const gain = byCollection(rows, (row) => withWeights(row, weights)).at(-1)?.gain ?? 0;
      if (gain > best.gain) best = { weights, gain };
    }
  }
  return best.weights;
}

function report(): void {
  const heldOut = measured.filter((row) => row.isHeldOut);
  const chosenOn = measured.filter((row) => !row.isHeldOut);
  const chosen = chooseWeights(chosenOn);
  const rankings: [string, readonly Measured[], (row: Measured) => readonly Fused[]][] = [
    ['BM25, all queries', measured, ({ keyword }) => keyword],
    ['default, all queries', measured, ({ fused }) => fused],
    ['BM25, chosen half', chosenOn, ({ keyword }) => keyword],
    ['default, chosen half', chosenOn, ({ fused }) => fused],
    ['BM25, held-out half', heldOut, ({ keyword }) => keyword],
    ['default, held-out half', heldOut, ({ fused }) => fused],
    [
      `weights ${JSON.stringify(chosen)}, held-out half`,
      heldOut,
      (row) => withWeights(row, chosen),
    ],
  ];
  const results = rankings.map(([name, rows, rank]) => ({
    name,
    scores: byCollection(rows, rank),
  }));
  if (values.json) {
    console.log(JSON.stringify({ chosen, results }));
    return;
  }
  console.log(`nDCG@10 / recall@100; shipped weights ${JSON.stringify(defaultWeights)}\n`);
  for (const { name, scores } of results) {
    const cells = scores.map((s) => `${s.name} ${s.gain.toFixed(3)}/${s.recall.toFixed(3)}`);
    console.log(`${name}\n  ${cells.join('  ')}`);
  }
}
