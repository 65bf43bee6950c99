/** The scenarios: a million documents a day, and a corpus of a billion. */
import { limits } from '../../src/kernel/limits/limits.ts';
import { priceOf } from '../../src/provider/prices.ts';
import { costs, document, messages } from './measured.ts';
import {
  busyDay,
  type Component,
  type Curve,
  flatDay,
  flowOfDay,
  type Machine,
  type Need,
  needOf,
  type Stage,
  type StageDay,
} from './model.ts';

export interface Scenario {
  readonly name: string;
  readonly note: string;
  readonly documentsPerDay: number;
  /** The number of documents stored in the end. */
  readonly documents: number;
  readonly curve: Curve;
  /** The size of a document relative to the generated ones: costs and sizes scale with it. */
  readonly size: number;
}

export const machine: Machine = { cores: 16, loadMax: 0.6 };

const large = 10;
const largeText =
  `${Math.round((document.htmlBytes * large) / 1000)} kB of HTML, ` +
  `${Math.round(document.chunks * large)} chunks each`;

export const scenarios: readonly Scenario[] = [
  {
    name: 'A million documents a day',
    note: 'At noon twice as many as on average; kept for a year.',
    documentsPerDay: 1e6,
    documents: 365e6,
    curve: busyDay(2),
    size: 1,
  },
  {
    name: 'A million large documents a day',
    note: `The same with documents of ten times the size: ${largeText}.`,
    documentsPerDay: 1e6,
    documents: 365e6,
    curve: busyDay(2),
    size: large,
  },
  {
    name: 'A billion documents',
    note: 'Loaded in ninety days, day and night.',
    documentsPerDay: 1e9 / 90,
    documents: 1e9,
    curve: flatDay,
    size: 1,
  },
];

const scrapeQueue = { costs: [costs.queueServer], times: messages.scrape, isSingle: true };
const embedQueue = { costs: [costs.queueServer], times: messages.embed, isSingle: true };

export const components: readonly Component[] = [
  { name: 'gateway', costs: [costs.gateway] },
  { name: 'orchestrator', costs: [costs.engine, costs.callbacks] },
  { name: 'scraper', costs: [costs.fetch, costs.parse, costs.queue, costs.queue] },
  { name: 'chunking', costs: [costs.chunk] },
  {
    name: 'embedding (local model)',
    costs: [costs.embed, costs.entities, costs.queue, costs.queue],
  },
  { name: 'redis-scrape', ...scrapeQueue },
  { name: 'redis-embed', ...embedQueue },
  { name: 'Postgres primary', costs: [costs.postgres] },
  { name: 'Qdrant', costs: [costs.qdrant] },
  { name: 'Neo4j', costs: [costs.neo4j] },
];

/** The order in which a document passes them; other work runs in parallel. */
const path = ['scraper', 'chunking', 'embedding (local model)', 'orchestrator', 'Postgres primary'];
const outage = { stage: 'embedding (local model)', from: 12, to: 14 } as const;

export interface Plan {
  readonly scenario: Scenario;
  readonly ratePeak: number;
  readonly needs: readonly Need[];
  /** The component of which a single machine is too small first. */
  readonly bottleneck: Need;
  /** The day on which embedding is down for the two busiest hours, with the cores of the plan. */
  readonly outage: StageDay;
  readonly storage: readonly Storage[];
  readonly other: readonly (readonly [what: string, figure: string])[];
}

export interface Storage {
  readonly what: string;
  readonly bytesPerDocument: number;
  readonly bytes: number;
  /** The number of machines, if one can store only so much. */
  readonly machines?: number;
}

/** The assumed capacity of one machine: what can be backed up and restored in a night. */
const holds = { postgres: 8e12, memory: 200e9 } as const;

const daySeconds = 24 * 60 * 60;

export function planOf(scenario: Scenario): Plan {
  const { documentsPerDay, curve, size } = scenario;
  const rate = documentsPerDay / daySeconds;
  const ratePeak = (documentsPerDay * Math.max(...curve)) / 3600;
  const sized = components.map((component) => ({ ...component, costs: grown(component, size) }));
  const needs = sized.map((component) => needOf(component, ratePeak, machine));
  const [bottleneck] = needs.toSorted((a, b) => a.machineRateMax - b.machineRateMax);
  if (!bottleneck) throw new Error('there are no components');
  const stages = path.map((name) => stageOf(name, needs));
  const days = flowOfDay(stages, { documents: documentsPerDay, curve });
  const held = days.find(({ name }) => name === outage.stage);
  if (!held) throw new Error(`${outage.stage} is not on the path`);
  const [storage, other] = [storageOf(scenario), otherOf(scenario, { rate, ratePeak })];
  return { scenario, ratePeak, needs, bottleneck, outage: held, storage, other };
}

function stageOf(name: string, needs: readonly Need[]): Stage {
  const need = needs.find((each) => each.name === name);
  if (!need) throw new Error(`${name} is not a component`);
  const capacity = (need.cores / need.millisPerDocument) * 1000;
  return { name, capacity, ...(name === outage.stage && { away: outage }) };
}

function grown({ costs: each }: Component, size: number): Component['costs'] {
  return each.map((cost) => (cost.isFixed ? cost : { ...cost, micros: cost.micros * size }));
}

function storageOf({ documents, documentsPerDay, size }: Scenario): Storage[] {
  const { eventBytes, chunks } = document;
  const { storeBytes, walBytes, blobBytes } = placed(size);
  const row = (what: string, bytesPerDocument: number, count = documents): Storage => ({
    what,
    bytesPerDocument,
    bytes: bytesPerDocument * count,
  });
  const heldBy = (most: number, kept: Storage): Storage => ({
    ...kept,
    machines: Math.ceil(kept.bytes / most),
  });
  const kept = Object.values(storeBytes).reduce((sum, bytes) => sum + bytes, 0);
  const vector = chunks * dimensions * size;
  const recent = Math.min(documents, documentsPerDay * eventDays);
  return [
    heldBy(holds.postgres, row('Postgres, documents and their chunks', kept)),
    row('… of it words, with their index', storeBytes.words),
    row('Postgres, events of thirty days', eventBytes, recent),
    row('Postgres, log of one day', walBytes, documentsPerDay),
    row('blobs', blobBytes),
    // Qdrant's own rule: four bytes per dimension, and half as much again for the graph.
    heldBy(holds.memory, row('Qdrant, vectors in memory', vector * 4 * 1.5)),
    heldBy(
      holds.memory,
      row('Qdrant, vectors in memory as bytes, whole ones on disk', vector * 1.5),
    ),
  ];
}

/** Fetched content is stored as Pawl does: a page that is too large for a row is a blob. */
function placed(size: number) {
  const { htmlBytes, walBytes, storeBytes } = document;
  const isBlob = htmlBytes * size > limits.document.rowBytesMax;
  const { fetched, ...others } = storeBytes;
  const grownBytes = Object.entries({ ...others, ...(!isBlob && { fetched }) });
  return {
    storeBytes: {
      words: 0,
      ...Object.fromEntries(grownBytes.map(([name, bytes]) => [name, bytes * size])),
    },
    walBytes: (walBytes - (isBlob ? fetched : 0)) * size,
    blobBytes: isBlob ? htmlBytes * size : 0,
  };
}

const dimensions = 256;
const eventDays = 30;

/** Two pages of a domain concurrently, half a second apart: the defaults. */
const pagesPerSecond = 2;
/** From claimed to done, most of it waiting for the site: assumed. */
const secondsInFlight = 3;
const gigabit = 1e9 / 8;

function otherOf(
  { documentsPerDay, size }: Scenario,
  { rate, ratePeak }: { readonly rate: number; readonly ratePeak: number },
): Plan['other'] {
  const tokens = document.tokens * size;
  const price = priceOf('text-embedding-3-small')?.input ?? Number.NaN;
  const dollars = (documentsPerDay * tokens * price) / 1e6 / 100;
  const whole = (value: number): string => Math.ceil(value).toLocaleString('en');
  const line = ((ratePeak * document.htmlBytes * size * 100) / gigabit).toFixed(1);
  return [
    ['documents in flight, three seconds each', whole(ratePeak * secondsInFlight)],
    ['domains that are read at once, at the pace Pawl keeps', whole(ratePeak / pagesPerSecond)],
    ['tokens a minute, for a model behind an interface', whole(ratePeak * 60 * tokens)],
    ['dollars a day, for text-embedding-3-small', whole(dollars)],
    ['share of a gigabit line, for what is fetched', `${line} %`],
    ['documents a second, on average', rate.toFixed(1)],
    [
      'documents of one corpus that are searched in memory, without Qdrant',
      whole(limits.search.wordsChunksMax / document.chunks / size),
    ],
  ];
}
