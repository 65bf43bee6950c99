/**
 * A load on four services while servers and services fail in a seeded order: Postgres is restarted,
 * Redis is emptied and killed, processes are killed. In the end each document must exist, once, and
 * nothing may still wait.
 */
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Part, Services } from '../support/services.ts';
import { ask, ended, judge, openPages, type Pages, submit } from '../support/services-load.ts';
import { until } from '../support/wait.ts';
import { type Chance, chanceFrom } from './chance.ts';

export interface ServicesChaos {
  readonly restarts: number;
  readonly flushes: number;
  readonly kills: number;
  /** Of Pawl processes, any of the four. */
  readonly processKills: number;
  readonly seed: number;
  /** Documents of one job; one job is always running. */
  readonly documents: number;
  /** Workers of the scraper and of the embedding service. */
  readonly workers: number;
  readonly tell: (line: string) => void;
}

export interface ServicesVerdict {
  readonly jobs: number;
  readonly documents: number;
  readonly lost: number;
  readonly duplicated: number;
  readonly stuck: number;
  readonly failed: number;
  /** The failure messages. */
  readonly reasons: readonly string[];
  /** Pages that were fetched more than once, because their worker died. */
  readonly readAgain: number;
  readonly seconds: number;
}

const corpus = 'chaos';
/** Between two faults, so that work continues in between. */
const restMsMax = 400;

export async function breakServices(options: ServicesChaos): Promise<ServicesVerdict> {
  const startedAt = performance.now();
  const pages = await openPages();
  const services = await Services.start({ allowHosts: [pages.host], durable: true });
  try {
    for (let more = 1; more < options.workers; more++) {
      await services.add('scraper');
      await services.add('embedding');
    }
    const load = new Load(services, pages, options);
    const loading = load.run();
    await breakAll(services, options);
    load.stop();
    const jobs = await loading;
    return {
      ...(await verdictOf(services, pages, { jobs, ...options })),
      seconds: since(startedAt),
    };
  } finally {
    await services.stop();
    pages.close();
  }
}

const since = (at: number): number => Math.round((performance.now() - at) / 1000);

/** Submits one job after the other, so that there is always work when something fails. */
class Load {
  readonly #services: Services;
  readonly #pages: Pages;
  readonly #options: ServicesChaos;
  #isStopped = false;

  constructor(services: Services, pages: Pages, options: ServicesChaos) {
    this.#services = services;
    this.#pages = pages;
    this.#options = options;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async run(): Promise<string[]> {
    const jobs: string[] = [];
    while (!this.#isStopped || jobs.length === 0) {
      const names = Array.from({ length: this.#options.documents }, (_, index) => index);
      const urls = names.map((index) => this.#pages.url(`${corpus}-${jobs.length}-${index}`));
      // An orchestrator that dies may have accepted the job without telling.
      const key = `${corpus}-${jobs.length}`;
      const id = await until(() => submit(this.#services, { corpus, urls, key }), {
        what: 'a job to be accepted',
        intervalMs: 100,
      });
      jobs.push(id);
      await ended(this.#services, id);
    }
    return jobs;
  }
}

async function breakAll(services: Services, options: ServicesChaos): Promise<void> {
  const { restarts, flushes, kills, processKills, seed, tell } = options;
  const chance = chanceFrom(seed);
  const faults = shuffled(
    [
      ...Array.from({ length: restarts }, () => restartPostgres),
      ...Array.from({ length: flushes }, () => flushRedis),
      ...Array.from({ length: kills }, () => killRedis),
      ...Array.from({ length: processKills }, () => killProcess),
    ],
    chance,
  );
  for (const [index, fault] of faults.entries()) {
    await pause(chance.below(restMsMax));
    await fault(services, chance);
    if ((index + 1) % 20 === 0) tell(`${index + 1} of ${faults.length} faults`);
  }
}

type Fault = (services: Services, chance: Chance) => Promise<void>;

const restartPostgres: Fault = ({ postgres }, chance) =>
  postgres.restart(chance.hits(0.5) ? 'fast' : 'immediate');

const queueNames = ['scrape', 'embed', 'orch'] as const;
const pick = <T>(list: readonly T[], chance: Chance): T => list[chance.below(list.length)] as T;

const flushRedis: Fault = async ({ redis }, chance) => {
  const socket = connect({ port: redis[pick(queueNames, chance)].port, host: '127.0.0.1' });
  socket.write('FLUSHALL\r\n');
  for await (const _ of socket) break;
  socket.destroy();
};

const killRedis: Fault = ({ redis }, chance) =>
  redis[pick(queueNames, chance)].restart('immediate');

const parts: readonly Part[] = ['orchestrator', 'scraper', 'embedding', 'chunking'];

const killProcess: Fault = async (services, chance) => {
  await services.of(pick(parts, chance)).restart();
};

function shuffled<T>(list: readonly T[], chance: Chance): T[] {
  const rest = [...list];
  return list.map(() => rest.splice(chance.below(rest.length), 1)[0] as T);
}

async function verdictOf(
  services: Services,
  pages: Pages,
  { jobs, documents: each }: { jobs: readonly string[]; documents: number },
): Promise<Omit<ServicesVerdict, 'seconds'>> {
  const ends = await Promise.all(jobs.map((id) => ended(services, id)));
  const failed = ends.reduce((sum, { items_failed }) => sum + items_failed, 0);
  const { documents, lost, duplicated, stuck } = await judge(services, corpus, jobs.length * each);
  const readAgain = [...pages.asked.values()].filter((count) => count > 1).length;
  const reasons = failed > 0 ? await reasonsOf(services) : [];
  return { jobs: jobs.length, documents, lost, duplicated, stuck, failed, reasons, readAgain };
}

export async function reasonsOf({ orchestrator }: Services): Promise<string[]> {
  const { body } = await ask<{ items: readonly unknown[] }>(orchestrator.address, '/inbox');
  return body.items.map((cause) => JSON.stringify(cause));
}
