/**
 * A worker is stopped while it holds leases, is given up, and wakes when others have continued its
 *
 * items. Its reports must be refused, and its later work must leave nothing behind.
 * It stops itself at a failpoint, and a rescuer declares it dead: waiting 90 s for the missing
 *
 * heartbeat would test nothing more.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { realWorld } from '../../src/app/world.ts';
import { thisProcess } from '../../src/engine/item/liveness.ts';
import { rescue } from '../../src/engine/item/rescuer.ts';
import { Failure } from '../../src/kernel/failure/failure.ts';
import { item as lifecycle } from '../../src/kernel/lifecycle/item.ts';
import type { Failpoint } from '../../src/observe/failpoint.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { patience } from '../support/patience.ts';
import { isStopped } from '../support/process-state.ts';
import { until } from '../support/wait.ts';
import { type Chance, chanceFrom } from './chance.ts';
import type { Child } from './child.ts';
import { Scene, type SceneOptions } from './scene.ts';
import type { Finding } from './verdict.ts';

export interface ZombieResult {
  readonly cycles: number;
  /** Reports of zombies that were refused. */
  readonly refused: number;
  /** Leases that were taken from them. */
  readonly taken: number;
  /** Calls that a zombie made for texts that others had answered while it was stopped. */
  readonly paidByZombies: number;
  readonly findings: readonly Finding[];
  readonly errors: readonly string[];
}

/** Mostly right before a report. */
const stopsAt: readonly Failpoint[] = [
  'step.after-run',
  'step.after-run',
  'step.before-run',
  'claim.after-commit',
];

export async function wakeZombies(
  options: SceneOptions,
  { cycles, seed }: { cycles: number; seed: number },
): Promise<ZombieResult> {
  const scene = await Scene.open(options);
  const chance = chanceFrom(seed);
  try {
    const zombies: Zombie[] = [];
    const successor = scene.start('worker', { seed });
    const submitter = scene.start('submitter', { seed });
    while (zombies.length < cycles) zombies.push(...(await wakeOne(scene, chance)));
    await scene.end(submitter, 'SIGTERM');
    await scene.end(successor, 'SIGKILL');
    await scene.rest(1);
    const pids = new Set(zombies.map(({ pid }) => pid));
    // Between its check and its call a process may be stopped for hours: no check can prevent this.
    const isZombies = ({ pid }: { pid: number }) => pids.has(pid);
    const calls = scene.calls().filter((call) => isZombies(call) && call.kept.length > 0);
    return {
      cycles,
      refused: await countEvents(scene, 'report_refused'),
      taken: zombies.reduce((sum, { taken }) => sum + taken, 0),
      paidByZombies: calls.length,
      findings: await scene.judge((call) => !isZombies(call)),
      errors: [...scene.errors],
    };
  } finally {
    await scene.close();
  }
}

interface Zombie {
  readonly pid: number;
  readonly taken: number;
}

/** One zombie; or none, if it stopped while holding the only lock of the database. */
async function wakeOne(scene: Scene, chance: Chance): Promise<Zombie[]> {
  const failpoint = stopsAt[chance.below(stopsAt.length)];
  const zombie = scene.start('worker', {
    seed: chance.below(2 ** 31),
    failpoint: `${failpoint}:stop:${1 + chance.below(failpoint === 'claim.after-commit' ? 2 : 8)}`,
  });
  await until(() => isStopped(zombie.pid), { what: 'the worker to stop itself' });
  const worker = await workerOf(scene, zombie);
  const held = await scene.database.run(heldBy, { worker });
  const taken = await within(declareDead(scene, zombie)).catch(toBusy);
  if (taken === undefined) {
    await scene.end(zombie, 'SIGKILL');
    return [];
  }
  await until(() => areTakenOver(scene, held), { what: 'others to continue its items' });
  zombie.kill('SIGCONT');
  const isAnswered = async () =>
    zombie.hasEnded() ||
    (await countEvents(scene, 'report_refused', worker)) > 0 ||
    (await isKnown(scene, worker));
  await until(isAnswered, { what: 'the zombie to learn that it was given up' });
  // It may have claimed more in the meantime: that must be found, too.
  await scene.end(zombie, 'SIGKILL');
  return [{ pid: zombie.pid, taken }];
}

/** Others must be able to continue, regardless of what the stopped process had begun. */
function within(rescued: Promise<number>): Promise<number> {
  const heldUp = pause(patience.eventMs, undefined, { ref: false }).then(() => {
    throw new Error(`a stopped worker has blocked its rescuer for ${patience.eventMs} ms`);
  });
  return Promise.race([rescued, heldUp]);
}

function toBusy(error: unknown): undefined {
  if (error instanceof Failure && error.code === 'store_busy') return undefined;
  throw error;
}

interface Held {
  readonly id: number;
  readonly epoch: number;
}

/** The epoch rises when an item is taken, and again when another worker claims it. */
async function areTakenOver({ database }: Scene, held: readonly Held[]): Promise<boolean> {
  for (const { id, epoch } of held) {
    const [row] = await database.run(stateOf, { id });
    if (row && row.waits_on !== null && row.epoch < epoch + 2) return false;
  }
  return true;
}

const byPid = sql<{ id: string }>`SELECT id FROM workers WHERE pid = :pid`;
const byId = sql<{ id: string }>`SELECT id FROM workers WHERE id = :worker`;
const heldBy = sql<Held>`
  SELECT id, epoch FROM items WHERE worker = :worker AND waits_on = 'worker'`;
const stateOf = sql<{ epoch: number; waits_on: string | null }>`
  SELECT epoch, waits_on FROM items WHERE id = :id`;
const eventsOf = sql<{ count: number }>`SELECT COUNT(*) AS count FROM events
  WHERE kind = :kind AND (CAST(:worker AS TEXT) IS NULL OR worker = :worker)`;

async function workerOf(scene: Scene, { pid }: Child): Promise<string> {
  const [row] = await scene.database.run(byPid, { pid });
  if (!row) throw new Error(`the process ${pid} is not in the list of workers`);
  return row.id;
}

/** A zombie that noticed that it had been given up has registered again. */
async function isKnown(scene: Scene, worker: string): Promise<boolean> {
  return (await scene.database.run(byId, { worker })).length > 0;
}

/** Rescues like a machine that believes the process to have ended. */
function declareDead({ database }: Scene, { pid }: Child): Promise<number> {
  const liveness = thisProcess();
  return rescue({
    database,
    lifecycle,
    world: realWorld(),
    liveness: {
      ...liveness,
      isAlive: (other, started) => other !== pid && liveness.isAlive(other, started),
    },
    ring: () => undefined,
  });
}

async function countEvents(scene: Scene, kind: string, worker?: string): Promise<number> {
  return (await scene.database.run(eventsOf, { kind, worker: worker ?? null }))[0]?.count ?? 0;
}
