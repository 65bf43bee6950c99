/**
 * The cost of one document, by `node bench/scale/measure.ts 1500`, `npm run bench -- services` and
 * `npm run bench -- engine`, on two quiet cores. The pages are generated, of about 800 words: 10.6
 * kB of HTML, 7.5 kB of text, 7.3 chunks, 8 entities. Figures that were not measured are marked as
 * assumed.
 */
export interface Cost {
  readonly micros: number;
  readonly evidence: 'measured' | 'assumed';
  readonly from: string;
  /** The same for a document of any size. */
  readonly isFixed?: boolean;
}

const measured = (micros: number, from: string): Cost => ({ micros, evidence: 'measured', from });
const assumed = (micros: number, from: string): Cost => ({ micros, evidence: 'assumed', from });

const fixed = (cost: Cost): Cost => ({ ...cost, isFixed: true });

const steps = 'bench/scale/measure.ts, that step alone';
const whole = 'bench/scale/measure.ts, the whole of Pawl on Postgres';

/** CPU time per document. */
export const costs = {
  gateway: fixed(assumed(100, 'nginx: two requests, their log lines')),
  fetch: assumed(1_500, 'one request with TLS, robots.txt remembered; the waiting costs nothing'),
  parse: measured(1_685, steps),
  chunk: measured(269, steps),
  callbacks: fixed(
    measured(10_800, 'npm run bench -- services, the orchestrator less what the engine takes'),
  ),
  embed: measured(360, `${steps}, with the table that comes with Pawl`),
  entities: measured(518, steps),
  engine: measured(4_433, `${whole}, the process less its steps`),
  postgres: measured(6_367, `${whole}, the server`),
  queue: fixed(
    measured(179, 'npm run bench -- engine, BullMQ: one job added and processed, both sides'),
  ),
  queueServer: fixed(measured(98, 'the same, of it in Redis')),
  qdrant: assumed(7_400, 'one millisecond for each vector, with its place in the graph'),
  neo4j: assumed(5_400, '0.2 ms for each entity and relation, in batches'),
} as const satisfies Record<string, Cost>;

/** Queue messages per document: fetched and parsed; embedded and entities found. */
export const messages = { scrape: 2, embed: 2 } as const;

/** The size of one document, and what is stored of it. */
export const document = {
  htmlBytes: 10_597,
  textBytes: 7_451,
  tokens: 1_206,
  chunks: 7.297,
  entities: 8.2,
  /** Written to the Postgres log; the load on a replica and a backup. */
  walBytes: 60_607,
  /** In Postgres with its indexes, for the life of the document. */
  storeBytes: {
    words: 12_719,
    chunks: 11_283,
    entities: 1_955,
    vectors: 4_866,
    text: 3_725,
    rows: 2_228,
    /** Fetched content, if it is small; above 64 KiB it is a blob. */
    fetched: 4_626,
  },
  /** In Postgres, for the thirty days that events are kept. */
  eventBytes: 3_452,
} as const;
