/**
 * What one document costs each part of Pawl: processor time of every step by itself, then the same
 * pages through the whole of Pawl on Postgres for what storing and keeping them takes.
 *
 *   node bench/scale/measure.ts [PAGES]
 *
 * Processor time varies less than rates where others share the machine; sizes do not vary at all.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { open } from '../../src/index.ts';
import { splitText } from '../../src/pipeline/chunk/split.ts';
import { countText } from '../../src/pipeline/chunk/token/tokens.ts';
import { readLexicon } from '../../src/pipeline/entity/lexicon.ts';
import { extractEntities } from '../../src/pipeline/entity/local-extractor.ts';
import { parse } from '../../src/pipeline/extract/format/parse.ts';
import { staticEmbedder } from '../../src/provider/embedding/static-embedder.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { measured } from '../measure/usage.ts';
import { writePages } from '../pipeline/pages.ts';

const [count = '400'] = process.argv.slice(2);
const pages = Number(count);
const seed = 7;
const words = 800;
const folder = mkdtempSync(join(tmpdir(), 'pawl-scale-'));
try {
  const directory = join(folder, 'pages');
  writePages({ directory, count: pages, words, seed });
  const steps = await measureSteps(directory);
  const store = await measureStore(directory, join(folder, 'pawl'));
  console.log(JSON.stringify({ pages, ...steps, ...store }, null, 2));
} finally {
  rmSync(folder, { recursive: true });
}

/** Each step alone, over all pages, once to warm up and once measured. */
async function measureSteps(directory: string) {
  const { signal } = new AbortController();
  const inputs = readdirSync(directory).map((name) => ({
    bytes: readFileSync(join(directory, name)),
    mediaType: 'text/html',
    source: name,
  }));
  const embedder = staticEmbedder();
  const lexicon = await readLexicon();
  const parseAll = () => Promise.all(inputs.map((input) => parse(input, signal)));
  const texts = (await parseAll()).map(({ markdown }) => markdown);
  const chunkAll = () => texts.map((text) => splitText(text));
  const chunks = chunkAll();
  const embedAll = async () => {
    for (const each of chunks)
      await embedder.embed(
        each.map(({ text }) => text),
        signal,
      );
  };
  const entitiesAll = () => texts.map((text) => extractEntities(text, lexicon));
  await embedAll();
  const entities = entitiesAll();
  const mean = (values: readonly number[]) =>
    Math.round(values.reduce((sum, value) => sum + value, 0) / inputs.length);
  return {
    htmlBytes: mean(inputs.map(({ bytes }) => bytes.length)),
    textBytes: mean(texts.map((text) => Buffer.byteLength(text))),
    tokens: mean(texts.map((text) => countText(text))),
    chunks: chunks.flat().length / inputs.length,
    entities: entities.flatMap(({ entities: found }) => found).length / inputs.length,
    parseMicros: await microsOf(parseAll, inputs.length),
    chunkMicros: await microsOf(chunkAll, inputs.length),
    embedMicros: await microsOf(embedAll, inputs.length),
    entityMicros: await microsOf(entitiesAll, inputs.length),
  };
}

async function microsOf(work: () => unknown, documents: number): Promise<number> {
  const { clientSeconds } = await measured(work, undefined);
  return Math.round((clientSeconds * 1e6) / documents);
}

async function measureStore(directory: string, data: string) {
  const postgres = await startPostgres({ durable: true });
  const url = await postgres.createDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const written = async () => {
    const { rows } = await client.query("SELECT pg_current_wal_lsn() - '0/0' AS bytes");
    return Number(rows[0]?.bytes);
  };
  const pawl = await open({ data, database: url, workers: 64 });
  const before = await written();
  const usage = await measured(async () => {
    const job = await pawl.ingest([directory], { corpus: 'scale' });
    const { itemsDone } = await job.wait();
    if (itemsDone !== pages) throw new Error(`${itemsDone} of ${pages} pages are done`);
  }, postgres.pid);
  const walBytes = (await written()) - before;
  await pawl.close();
  const { rows: tables } = await client.query<{ name: string; bytes: string }>(
    `SELECT relname AS name, pg_total_relation_size(oid) AS bytes FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 2 DESC LIMIT 12`,
  );
  await client.end();
  await postgres.stop();
  const perDocument = (value: number) => Math.round(value / pages);
  return {
    wholeClientMicros: perDocument(usage.clientSeconds * 1e6),
    wholeServerMicros: perDocument((usage.serverSeconds ?? Number.NaN) * 1e6),
    walBytes: perDocument(walBytes),
    blobBytes: perDocument(sizeOf(data)),
    tables: Object.fromEntries(tables.map(({ name, bytes }) => [name, perDocument(Number(bytes))])),
  };
}

/** A missing file takes no space: small documents are not blobs. */
function sizeOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
