/**
 * What one document costs, by `node bench/scale/measure.ts 2000` and `npm run bench -- engine`.
 * The pages are made, of about 800 words: 10.7 kB of HTML, 7.5 kB of text, 7.4 chunks, 18 entities.
 * The steps were measured while others kept the two cores busy (load 10), so that they are rather
 * too high than too low. Figures that nobody has measured yet are marked as assumed.
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

/** Processor time for one document. */
export const costs = {
  gateway: fixed(assumed(100, 'nginx: two requests, their log lines')),
  fetch: assumed(1_500, 'one request with TLS, robots.txt remembered; the waiting costs nothing'),
  parse: measured(6_898, steps),
  chunk: measured(1_784, steps),
  callbacks: fixed(
    assumed(2_000, 'four questions: begin, complete, their signatures, JSON both ways'),
  ),
  embed: measured(400, `${steps}, with the table that comes with Pawl`),
  entities: measured(1_310, steps),
  engine: measured(8_111, `${whole}, the process less its steps`),
  postgres: measured(9_510, `${whole}, the server`),
  queue: fixed(
    measured(179, 'npm run bench -- engine, BullMQ: one job added and processed, both sides'),
  ),
  queueServer: fixed(measured(98, 'the same, of it in Redis')),
  qdrant: assumed(7_400, 'one millisecond for each vector, with its place in the graph'),
  neo4j: assumed(5_400, '0.2 ms for each entity and relation, in batches'),
} as const satisfies Record<string, Cost>;

/** Messages on the queues for one document: fetched and parsed; embedded and entities found. */
export const messages = { scrape: 2, embed: 2 } as const;

/** What one document is, and what is kept of it. */
export const document = {
  htmlBytes: 10_687,
  textBytes: 7_524,
  tokens: 1_222,
  chunks: 7.385,
  entities: 17.9,
  /** Written to Postgres' log; what a replica and a backup have to take. */
  walBytes: 63_827,
  /** In Postgres with its indexes, for as long as the document is there. */
  storeBytes: {
    words: 12_341,
    chunks: 11_547,
    entities: 9_241,
    vectors: 4_833,
    text: 3_727,
    rows: 2_428,
  },
  /** In Postgres, for the thirty days that events are kept. */
  eventBytes: 3_428,
  blobBytes: 10_687,
} as const;
