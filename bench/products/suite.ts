/**
 * Pawl beside products that people use instead: the same pages, the same paid embedder, and a
 * `kill -9` in the middle. docs/peers.md has the results, bench/README.md the method.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres, whyNoPgvector } from '../../test/support/postgres.ts';
import { makeDirectory, removeDirectory } from '../../test/support/temporary.ts';
import { readMarkdownPage } from '../fidelity/markdown-page.ts';
import { compare, sumScores } from '../fidelity/meter.ts';
import type { Section, Table } from '../measure/figure.ts';
import { differences, textsAgain } from './crash.ts';
import { type Bill, type PaidEmbedder, startPaidEmbedder } from './embedder.ts';
import { choosePages, type Page, writePages } from './pages.ts';
import { pawlProducts } from './pawl.ts';
import { peers } from './peers.ts';
import type { Place, Product, StoredText } from './product.ts';
import { type Spent, startCommand } from './run.ts';

export interface ProductsOptions {
  readonly seed: number;
  /** Words of which the name of a product contains one; all products if empty. */
  readonly only: readonly string[];
  readonly pages: number;
  readonly tell: (line: string) => void;
}

const embedderDelayMs = 100;
const killedAt = 0.5;

interface Measured {
  readonly product: Product;
  readonly whole: Spent;
  readonly bill: Bill;
  readonly wordsLost: number;
  readonly noise: number;
  readonly crash: Crash;
}

interface Crash {
  readonly lost: number;
  readonly doubled: number;
  readonly callsAgain: number;
  readonly textsAgain: number;
  readonly seconds: number;
}

export async function benchProducts(options: ProductsOptions): Promise<Section[]> {
  const { seed, only, pages: count, tell } = options;
  const missing = whyNoPgvector();
  if (missing !== undefined) {
    tell(`peers: skipped, because ${missing}`);
    return [];
  }
  const chosen = choosePages({ count, seed });
  tell(`${chosen.pages.length} pages, seed ${seed}`);
  const folder = makeDirectory();
  const server = await startPostgres({ pgvector: true, settings: { shared_buffers: '256MB' } });
  const embedder = await startPaidEmbedder(embedderDelayMs);
  const bench: Bench = {
    folder,
    embedder,
    pages: chosen.pages,
    newDatabase: server.createDatabase,
  };
  const measured: Measured[] = [];
  const absent = [...chosen.absent, ...unmeasured];
  try {
    writePages(chosen.pages, join(folder, 'pages'));
    for (const product of [...pawlProducts, ...peers].filter(isMeant(only))) {
      tell(product.name);
      const problem = product.prepare(tell) ?? (await attempt(bench, product, { measured, tell }));
      if (problem !== undefined) absent.push(`${product.name}: ${problem}`);
    }
  } finally {
    await embedder.close();
    await server.stop();
    removeDirectory(folder);
  }
  return [sectionOf(measured, { seed, pages: chosen.pages.length, absent })];
}

/** What was tried and cannot be measured on a machine without a model hub. */
const unmeasured = [
  'Unstructured 0.27.32: even its `fast` strategy loads a language model of spaCy from a ' +
    'release page, not from a package registry',
  'docling: converts documents, and has no embedder and no store of its own',
];

interface Bench {
  readonly folder: string;
  readonly embedder: PaidEmbedder;
  readonly pages: readonly Page[];
  newDatabase(): Promise<string>;
}

const isMeant =
  (only: readonly string[]) =>
  ({ name }: Product): boolean =>
    only.length === 0 || only.some((word) => name.toLowerCase().includes(word.toLowerCase()));

/** Why it could not be measured, or undefined. */
async function attempt(
  bench: Bench,
  product: Product,
  { measured, tell }: { measured: Measured[]; tell: (line: string) => void },
): Promise<string | undefined> {
  try {
    const result = await measure(bench, product);
    measured.push(result);
    tell(JSON.stringify({ ...result, bill: undefined }));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

async function measure(bench: Bench, product: Product): Promise<Measured> {
  const { embedder, pages } = bench;
  const first = await newPlace(bench, `${product.name}-whole`);
  embedder.reset();
  const whole = await startCommand(product.command(first), first.state).ended;
  const bill = embedder.bill();
  const stored = await product.stored(first);
  const scores = sumScores(scoresOf(pages, stored));
  const second = await newPlace(bench, `${product.name}-crash`);
  const crash = await crashAndResume(bench, { product, place: second, bill, stored });
  return {
    product,
    whole,
    bill,
    wordsLost: (100 * scores.wordsLost) / scores.words,
    noise: (100 * scores.wordsNoise) / scores.wordsKept,
    crash,
  };
}

async function newPlace({ folder, embedder, newDatabase }: Bench, name: string): Promise<Place> {
  const state = join(folder, name);
  mkdirSync(state);
  return {
    pages: join(folder, 'pages'),
    state,
    databaseUrl: await newDatabase(),
    embedderUrl: embedder.url,
  };
}

interface CrashTest {
  readonly product: Product;
  readonly place: Place;
  /** Of the run without a crash. */
  readonly bill: Bill;
  readonly stored: readonly StoredText[];
}

async function crashAndResume(
  { embedder }: Bench,
  { product, place, bill, stored }: CrashTest,
): Promise<Crash> {
  const command = product.command(place);
  embedder.reset();
  const first = startCommand(command, place.state);
  embedder.onAnswer = ({ texts }) => {
    if (texts >= killedAt * bill.texts) first.kill();
  };
  await first.ended;
  embedder.onAnswer = () => undefined;
  const { seconds } = await startCommand(command, place.state).ended;
  const total = embedder.bill();
  return {
    ...differences(stored, await product.stored(place)),
    callsAgain: total.calls - bill.calls,
    textsAgain: textsAgain(bill, total),
    seconds,
  };
}

function scoresOf(pages: readonly Page[], stored: readonly StoredText[]) {
  const texts = new Map<string, string[]>();
  for (const { page, text } of stored) texts.set(page, [...(texts.get(page) ?? []), text]);
  return pages.map(({ name, truth: { words } }) => {
    const given = readMarkdownPage((texts.get(name) ?? []).join('\n\n'), undefined);
    return compare({ words }, { words: given.words });
  });
}

interface Circumstances {
  readonly seed: number;
  readonly pages: number;
  readonly absent: readonly string[];
}

function sectionOf(measured: readonly Measured[], { seed, pages, absent }: Circumstances): Section {
  const note =
    `${pages} pages of Debian packages, chosen with seed ${seed}; an embedder that answers each ` +
    `call after ${embedderDelayMs} ms.`;
  const missing = absent.map((reason) => `Not measured: ${reason}.`);
  return {
    title: 'Peers',
    note: [note, ...missing].join('\n\n'),
    figures: [],
    tables: [wholeTable(measured, pages), crashTable(measured), setupTable(measured)],
  };
}

const mebibyte = 2 ** 20;

function wholeTable(measured: readonly Measured[], pages: number): Table {
  return {
    head: [
      'from the folder to the store',
      ...['documents/s', 'CPU s', 'peak MiB', 'calls', 'texts', 'words lost %', 'noise %'],
    ],
    rows: measured.map(({ product, whole, bill, wordsLost, noise }) => [
      product.name,
      (pages / whole.seconds).toFixed(1),
      whole.cpuSeconds.toFixed(0),
      (whole.peakBytes / mebibyte).toFixed(0),
      String(bill.calls),
      String(bill.texts),
      wordsLost.toFixed(2),
      noise.toFixed(1),
    ]),
  };
}

function crashTable(measured: readonly Measured[]): Table {
  return {
    head: [
      `\`kill -9\` at ${100 * killedAt} % of the texts, then the same command`,
      ...['documents lost', 'doubled', 'calls more', 'texts paid twice', '%', 'seconds to finish'],
      'seconds of a whole run',
    ],
    rows: measured.map(({ product, whole, bill, crash }) => [
      product.name,
      String(crash.lost),
      String(crash.doubled),
      String(crash.callsAgain),
      String(crash.textsAgain),
      ((100 * crash.textsAgain) / bill.texts).toFixed(1),
      crash.seconds.toFixed(1),
      whole.seconds.toFixed(1),
    ]),
  };
}

function setupTable(measured: readonly Measured[]): Table {
  return {
    head: ['product', 'version', 'set-up'],
    rows: measured.map(({ product: { name, version, setup } }) => [name, version, setup]),
  };
}
