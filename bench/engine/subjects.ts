/**
 * The measured systems: Pawl on both stores, its peers with their best settings, and the bare
 * stores.
 */
import { peerVersions } from '../peers/install.ts';

export type StoreKind = 'SQLite' | 'Postgres' | 'Redis' | 'disk';

export interface Subject {
  readonly engine: string;
  readonly store: StoreKind;
  /** The package of a peer, as named in `peers/package.json`. */
  readonly peer?: string;
  readonly file: URL;
  readonly request: Readonly<Record<string, unknown>>;
  /** Measured once, regardless of the number of runs: the result does not vary. */
  readonly isOnce?: boolean;
  /** Concurrencies to try first, with a smaller load; the best is then measured. */
  readonly sweep?: readonly number[];
}

/** The load of one run. */
const loads = {
  full: {
    documents: 15_000,
    jobs: 60_000,
    lone: 300,
    workflows: 1_500,
    seconds: 3,
    depths: [1_000, 100_000, 1_000_000],
    rounds: 200,
  },
  quick: {
    documents: 3_000,
    jobs: 10_000,
    lone: 50,
    workflows: 200,
    seconds: 1,
    depths: [1_000, 100_000],
    rounds: 50,
  },
} as const;

const placesTried = [256, 512, 1_024];

export function subjectsOf(size: keyof typeof loads): Subject[] {
  const load = loads[size];
  return [...rawSubjects(load.seconds), ...pawlSubjects(load), ...peerSubjects(load)];
}

type Load = (typeof loads)[keyof typeof loads];

function rawSubjects(seconds: number): Subject[] {
  const raw = (store: StoreKind, name: string): Subject => ({
    engine: 'raw',
    store,
    file: script(name),
    request: { seconds },
  });
  return [raw('disk', 'disk'), raw('SQLite', 'raw-sqlite'), raw('Postgres', 'raw-postgres')];
}

function pawlSubjects({ documents, jobs, lone, depths, rounds }: Load): Subject[] {
  return (['SQLite', 'Postgres'] as const).flatMap((store) => {
    const pawl = (name: string, request: object, more: Partial<Subject> = {}): Subject => ({
      engine: 'Pawl',
      store,
      file: script(name),
      request: { ...request },
      ...more,
    });
    return [
      pawl('documents', { documents, perJob: 100 }, { sweep: placesTried }),
      pawl('jobs', { documents: jobs, perJob: 1_000 }, { sweep: placesTried }),
      pawl('alone', { documents: lone }),
      pawl('claims', { depths, rounds }),
      pawl('recovery', { held: 256, queued: 1_000 }),
      pawl('zombie', {}, { isOnce: true }),
    ];
  });
}

function peerSubjects({ jobs, lone, workflows }: Load): Subject[] {
  const versions = peerVersions();
  const peer = (title: string, store: StoreKind, name: string, request: object): Subject => ({
    engine: `${title} ${versions[name]}`,
    store,
    peer: name,
    file: new URL(`../peers/${name === '@dbos-inc/dbos-sdk' ? 'dbos' : name}.mjs`, import.meta.url),
    request: { ...request },
  });
  const queues = [
    peer('BullMQ', 'Redis', 'bullmq', { jobs, lone }),
    peer('pg-boss', 'Postgres', 'pg-boss', { jobs, lone }),
    peer('Graphile Worker', 'Postgres', 'graphile-worker', { jobs, lone }),
  ];
  const zombies = queues.map((queue) => ({
    ...queue,
    request: { probe: 'zombie' },
    isOnce: true,
  }));
  const dbos = peer('DBOS Transact', 'Postgres', '@dbos-inc/dbos-sdk', {
    documents: workflows,
    lone,
  });
  return [...queues, dbos, ...zombies];
}

function script(name: string): URL {
  return new URL(`./${name}.ts`, import.meta.url);
}
