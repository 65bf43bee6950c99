/** Documents in chunks of one size, and a corpus that asks for another. */
import assert from 'node:assert/strict';
import { Failure } from '../../../src/kernel/failure/failure.ts';
import type { ChunkingChange } from '../../../src/kernel/text/chunking.ts';
import type { Pipeline, StepFunction } from '../../../src/pipeline/pipeline.ts';
import { Searcher } from '../../../src/search/search.ts';
import { countToChunk } from '../../../src/store/corpus/rechunking.ts';
import { getCorpusSettings } from '../../../src/store/corpus/settings.ts';
import type { EngineFixture } from '../../support/engine-fixture.ts';
import { meteredEmbedder } from '../../support/metered-embedder.ts';
import { pipelineOf, submitTexts } from './money.ts';

export const key = { caller: 'ann', corpus: 'notes' };
export const small: ChunkingChange = { tokensMax: 32, overlapTokens: 0 };

export const sentence = (animal: string, count: number): string =>
  Array.from({ length: count }, (_, n) => `The ${animal} number ${n} sleeps below the weir.`).join(
    ' ',
  );
/** Each is one chunk of the default size, and several small ones. */
export const texts = {
  one: sentence('walrus', 12),
  two: sentence('otter', 12),
  three: 'A short note.',
};

export const embedder = () => meteredEmbedder({ model: 'own' });

/** A pipeline that holds, replaces or counts steps of some items. */
export function pipelineWith(
  bench: EngineFixture,
  change: (steps: Pipeline['steps']) => Readonly<Record<string, StepFunction>> = () => ({}),
): Pipeline {
  const pipeline = pipelineOf(bench, embedder());
  return { ...pipeline, steps: { ...pipeline.steps, ...change(pipeline.steps) } };
}

export async function ingest(
  bench: EngineFixture,
  given: Readonly<Record<string, string>> = texts,
) {
  const engine = await bench.start({}, { pipeline: pipelineWith(bench), pid: 1 });
  await bench.untilJob(await submitTexts(bench, given), 'succeeded');
  await bench.stop(engine);
}

export async function begin(bench: EngineFixture, change = small) {
  const { jobKey } = await bench.store.commands.rechunk({ ...key, change });
  assert.ok(jobKey, 'a job was started');
  return { key: jobKey, ids: [], caller: 'ann' };
}

/** Chunks per document, with the generation that is current. */
export async function chunks(bench: EngineFixture): Promise<Record<string, number>> {
  const rows = await bench.store.rows<{ source: string; count: number }>(
    `SELECT source, COUNT(chunks.ordinal) AS count FROM documents
     JOIN chunks ON chunks.generation_id = documents.generation_id GROUP BY source`,
  );
  return Object.fromEntries(rows.map(({ source, count }) => [source, Number(count)]));
}

async function count(bench: EngineFixture, table: string): Promise<number> {
  const [row] = await bench.store.rows<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`);
  return Number(row?.count);
}

export async function open(bench: EngineFixture): Promise<number> {
  const { database } = bench.store;
  const { chunking } = await getCorpusSettings(database, key);
  return countToChunk(database, { ...key, chunking });
}

/** Every chunk is of the current generation and has its vector: nothing is left of others. */
export async function assertWhole(bench: EngineFixture): Promise<void> {
  const current = Object.values(await chunks(bench)).reduce((sum, n) => sum + n, 0);
  assert.equal(await count(bench, 'chunks'), current);
  assert.equal(await count(bench, 'vectors'), current);
  assert.equal(await count(bench, 'texts'), await count(bench, 'documents'));
}

export async function found(bench: EngineFixture, query: string): Promise<readonly string[]> {
  const searcher = new Searcher({ database: bench.store.database, embedder: embedder() });
  const hits = await searcher.search({ ...key, query, mode: 'keyword', topK: 50 });
  return hits.map(({ sourceUrl }) => sourceUrl);
}

/** As if the first page of a job had only this many documents. */
export async function keepFirst(bench: EngineFixture, job: { key: string }, kept: number) {
  const { id } = await bench.store.job(job.key);
  const first = `SELECT id FROM items WHERE job_id = ${id} ORDER BY id LIMIT ${kept}`;
  await bench.store.database.write(async (transaction) => {
    for (const text of [
      `DELETE FROM items WHERE job_id = ${id} AND id NOT IN (${first})`,
      'DELETE FROM turns WHERE item_id NOT IN (SELECT id FROM items)',
      `UPDATE jobs SET items_total = ${kept} WHERE id = ${id}`,
    ]) {
      await transaction.run({ text });
    }
  });
}

export const refuse: StepFunction = async () => {
  throw new Failure('source_missing', 'the source must not be read');
};
