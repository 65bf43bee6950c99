/**
 * At every failpoint a process kills itself, another takes over, and the store is checked. A
 * failpoint that no process passed is a finding: names that are never hit prove nothing.
 */
import type { Failpoint } from '../../src/observe/failpoint.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { patience } from '../support/patience.ts';
import { until } from '../support/wait.ts';
import type { Child } from './child.ts';
import { Scene, type SceneOptions } from './scene.ts';
import type { Finding } from './verdict.ts';

export interface FailpointResult {
  readonly failpoint: Failpoint;
  readonly nth: number;
  readonly isHit: boolean;
  readonly findings: readonly Finding[];
  readonly errors: readonly string[];
}

/**
 * Enough to include that many large files of different content, and commands of every kind. A
 * worker reads the current content of a file, so only as many contents count as there are files.
 */
const jobsFor = (nth: number): number => 10 + 8 * nth;

/** Failpoints of a submitter; all others belong to a worker. */
const ofSubmitter = /^(submit|command|sweep)\./;
const ofRescuer = /^rescue\./;

export async function killAtFailpoint(
  options: SceneOptions,
  { failpoint, nth, seed }: { failpoint: Failpoint; nth: number; seed: number },
): Promise<FailpointResult> {
  const scene = await Scene.open(options);
  try {
    const at = `${failpoint}:kill:${nth}`;
    const submitter = { seed, jobs: jobsFor(nth), commandRate: 0.5 };
    const isHit = ofSubmitter.test(failpoint)
      ? await isKilled(scene.start('submitter', { ...submitter, failpoint: at }))
      : await killWorker(scene, at, { nth, submitter });
    if (ofSubmitter.test(failpoint)) {
      await scene.finish('submitter', { ...submitter, seed: seed + 1 });
    }
    await scene.rest(1);
    const findings = await scene.judge();
    return { failpoint, nth, isHit, findings, errors: [...scene.errors] };
  } finally {
    await scene.close();
  }
}

async function killWorker(
  scene: Scene,
  at: string,
  { nth, submitter }: { nth: number; submitter: Record<string, number> },
): Promise<boolean> {
  await scene.finish('submitter', submitter);
  // A rescuer needs dead workers: it passes its points once for each of them.
  if (ofRescuer.test(at)) await killHolders(scene, nth);
  const failureRate = at.startsWith('wake.') ? 0.5 : 0.03;
  return isKilled(scene.start('worker', { seed: submitter.seed, failpoint: at, failureRate }));
}

const leased = sql<{ count: number }>`
  SELECT COUNT(DISTINCT worker) AS count FROM items WHERE waits_on = 'worker'`;

/** This many workers die, each with its own leases. */
async function killHolders(scene: Scene, count: number): Promise<void> {
  const options = { places: 2, stepMsMax: 2_000 };
  const workers = Array.from({ length: count }, () => scene.start('worker', options));
  const areAllHolding = async () => (await scene.database.run(leased))[0]?.count === count;
  await until(areAllHolding, { what: `${count} workers to hold leases` });
  await Promise.all(workers.map((worker) => scene.end(worker, 'SIGKILL')));
}

/** Whether the process reached its failpoint and killed itself there. */
async function isKilled(child: Child): Promise<boolean> {
  const timer = setTimeout(() => child.kill('SIGTERM'), patience.eventMs);
  const how = await child.ended;
  clearTimeout(timer);
  return how === 'SIGKILL';
}
