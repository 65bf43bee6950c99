/**
 * What a document costs the store, in one process and in the orchestrator of the services. A change
 * that raises a count fails here; one that lowers it lowers the bound, so that it stays so.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { documentPipeline } from '../../src/pipeline/document.ts';
import { parse } from '../../src/pipeline/extract/format/parse.ts';
import { staticEmbedder } from '../../src/provider/embedding/static-embedder.ts';
import { type EngineFixture, openEngine } from '../support/engine-fixture.ts';
import { extractor } from '../support/local-extractor.ts';
import { patience } from '../support/patience.ts';
import { startServices } from '../support/service-scene.ts';
import { type Cost, type CostMeter, meterOf } from '../support/store-cost.ts';
import type { OpenStore, Submitted } from '../support/store-fixture.ts';

export type Scene = 'alone' | 'together' | 'services';

const titles: Readonly<Record<Scene, string>> = {
  alone: 'a document alone in one process',
  together: 'one of many documents of a job in one process',
  services: 'a document in the orchestrator of the services',
};

export interface CostBounds {
  readonly most: Readonly<Record<Scene, Cost>>;
  /** A count below this share of its bound asks for a lower bound. */
  readonly leastShare: number;
}

export function costSuite(name: string, open: OpenStore, { most, leastShare }: CostBounds): void {
  describe(`cost of a document on ${name}`, () => {
    for (const scene of ['alone', 'together', 'services'] as const) {
      test(titles[scene], { timeout: patience.testMs }, async (t) => {
        const bench = await openEngine(open)(t);
        const meter = await meterOf(bench.store);
        const cost = await scenes[scene](bench, meter);
        t.diagnostic(JSON.stringify(cost));
        check(cost, most[scene], leastShare);
      });
    }
  });
}

function check(cost: Cost, bounds: Cost, leastShare: number): void {
  for (const [count, bound] of Object.entries(bounds) as [keyof Cost, number][]) {
    const value = cost[count];
    assert.ok(value <= bound, `${count} per document: ${value}, and the bound is ${bound}`);
    const lowest = bound * leastShare;
    assert.ok(value >= lowest, `${count} per document: only ${value}; lower the bound ${bound}`);
  }
}

type Measure = (bench: EngineFixture, meter: CostMeter) => Promise<Cost>;

const scenes: Readonly<Record<Scene, Measure>> = { alone, together, services };

const sentence =
  'The heron stands in the reeds beside the pier, and waits for a fish that is late.';

/** About 4 KB of text in five sections, different in each document. */
function sectionsOf(page: number | string): [heading: string, text: string][] {
  return Array.from({ length: 5 }, (_, index) => {
    const words = Array.from({ length: 9 }, (_, place) => `${sentence} Bird ${page}-${place}.`);
    return [`Section ${index}`, words.join(' ')];
  });
}

function pageOf(number: number): string {
  const sections = sectionsOf(number).map(([head, text]) => `## ${head}\n\n${text}`);
  return [`# Page ${number}`, ...sections].join('\n\n');
}

function submit(bench: EngineFixture, numbers: readonly number[]): Promise<Submitted> {
  const sources = numbers.map((number) => ({
    kind: 'inline' as const,
    source: `page-${number}`,
    input: { kind: 'markdown' as const, title: null, body: pageOf(number) },
  }));
  return bench.store.submit({ sources });
}

const pages = { warm: [1, 2, 3], measured: [4, 5, 6, 7, 8, 9, 10, 11] };

async function oneByOne(bench: EngineFixture, numbers: readonly number[]): Promise<void> {
  for (const number of numbers) {
    await bench.untilJob(await submit(bench, [number]), 'succeeded');
  }
}

async function start(bench: EngineFixture): Promise<void> {
  const pipeline = documentPipeline({
    blobs: { put: async () => 'unused', get: async () => new Uint8Array() },
    fetcher: { get: () => Promise.reject(new Error('nothing here is on the web')) },
    embedder: staticEmbedder(),
    parser: parse,
    extractor,
  });
  await bench.start({}, { pipeline });
}

async function alone(bench: EngineFixture, meter: CostMeter): Promise<Cost> {
  await start(bench);
  await oneByOne(bench, pages.warm);
  const { measured } = pages;
  return meter.perDocument(measured.length, () => oneByOne(bench, measured));
}

async function together(bench: EngineFixture, meter: CostMeter): Promise<Cost> {
  await start(bench);
  await oneByOne(bench, pages.warm);
  const many = Array.from({ length: 64 }, (_, index) => index + 100);
  return meter.perDocument(many.length, async () => {
    await bench.untilJob(await submit(bench, many), 'succeeded');
  });
}

async function services(bench: EngineFixture, meter: CostMeter): Promise<Cost> {
  await startServices(bench, (path) => {
    const text = sectionsOf(path).map(([head, words]) => `<h2>${head}</h2><p>${words}</p>`);
    return `<!doctype html><title>Page</title><main><h1>Page</h1>${text.join('')}</main>`;
  });
  const ingest = async (numbers: readonly number[]): Promise<void> => {
    for (const number of numbers) {
      const source = `https://site.example/${number}`;
      const job = await bench.store.submit({ sources: [{ kind: 'url', source }] });
      await bench.untilJob(job, 'succeeded');
    }
  };
  await ingest(pages.warm);
  const { measured } = pages;
  return meter.perDocument(measured.length, () => ingest(measured));
}
