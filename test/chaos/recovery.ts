/**
 * Measures recovery from a kill. The only worker dies with many items at various steps; another
 * starts, and every leased item continues from its last committed step.
 */
import { item as lifecycle } from '../../src/kernel/lifecycle/item.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { until } from '../support/wait.ts';
import { Scene, type SceneOptions } from './scene.ts';
import type { Finding } from './verdict.ts';

export interface RecoveryResult {
  /** Items that were leased when their holder died. */
  readonly leased: number;
  /** The number of different steps they were at. */
  readonly places: number;
  /** From the start of the process, and of its engine, until the last of them continues. */
  readonly fromSpawnMs: number;
  readonly fromReadyMs: number;
  /** Steps that ran again although they had been committed. */
  readonly rerun: readonly string[];
  readonly findings: readonly Finding[];
}

interface LeasedRow {
  readonly id: number;
  readonly progress: number;
}

interface StartedRow {
  readonly item_id: number;
  readonly step: string;
  readonly at: number;
}

const leasedItems = sql<LeasedRow>`
  SELECT id, progress FROM items WHERE waits_on = 'worker' ORDER BY id`;
const startedBy = sql<StartedRow>`
  SELECT item_id, step, at FROM events WHERE kind = 'step_started' AND worker = :worker`;
const jobs = 40;

export async function recover(
  options: SceneOptions,
  { places, seed }: { places: number; seed: number },
): Promise<RecoveryResult> {
  const scene = await Scene.open(options);
  try {
    await scene.finish('submitter', { seed, jobs });
    const leased = await killHolder(scene, places, seed);
    const successor = scene.start('worker', { seed, places, failureRate: 0, lossRate: 0 });
    const ready = await successor.first('ready');
    if (!ready?.worker) throw new Error(`the next worker did not start: ${successor.errors}`);
    const { worker } = ready;
    const haveAllGoneOn = async (): Promise<StartedRow[] | undefined> => {
      const started = await scene.database.run(startedBy, { worker });
      const ids = new Set(started.map(({ item_id }) => item_id));
      return leased.every(({ id }) => ids.has(id)) ? started : undefined;
    };
    const started = await until(haveAllGoneOn, { what: 'every leased item to continue' });
    const lastAt = Math.max(...leased.map(({ id }) => firstOf(started, id)));
    await scene.end(successor, 'SIGKILL');
    await scene.rest(1);
    return {
      leased: leased.length,
      places: new Set(leased.map(({ progress }) => progress)).size,
      fromSpawnMs: lastAt - successor.startedAt,
      fromReadyMs: lastAt - ready.at,
      rerun: rerunOf(leased, started),
      findings: await scene.judge(),
    };
  } finally {
    await scene.close();
  }
}

/** Kills the only worker while it holds items at different steps. */
async function killHolder(scene: Scene, places: number, seed: number): Promise<LeasedRow[]> {
  const holder = scene.start('worker', {
    seed,
    places,
    stepMsMax: 150,
    failureRate: 0,
    lossRate: 0,
  });
  const isSpread = async (): Promise<boolean> => {
    const leased = await scene.database.run(leasedItems);
    return new Set(leased.map(({ progress }) => progress)).size >= 4;
  };
  await until(isSpread, { what: 'items at various steps' });
  await scene.end(holder, 'SIGKILL');
  return scene.database.run(leasedItems);
}

function firstOf(started: readonly StartedRow[], itemId: number): number {
  return Math.min(...started.flatMap(({ item_id, at }) => (item_id === itemId ? at : [])));
}

function rerunOf(leased: readonly LeasedRow[], started: readonly StartedRow[]): string[] {
  const progressOf = new Map(leased.map(({ id, progress }) => [id, progress]));
  return started
    .filter(({ item_id, step }) => lifecycle.isReached(progressOf.get(item_id) ?? 0, step))
    .map(({ item_id, step }) => `${step} of item ${item_id}`);
}
