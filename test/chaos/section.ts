/** The sections of `npm run chaos`, each with its findings and the amount of work done. */
import pg from 'pg';
import { inGroups } from '../../src/concurrency/groups.ts';
import { batchFailpoints, failpoints } from '../../src/observe/failpoint.ts';
import type { Postgres } from '../support/postgres.ts';
import { makeDirectory, removeDirectory } from '../support/temporary.ts';
import { killBatchWorkerAt, killBatchWorkers } from './batch-kills.ts';
import { killAtFailpoint } from './failpoint-kills.ts';
import { cutPower, type PowerLossResult } from './power-loss.ts';
import { killAtRandom } from './random-kills.ts';
import { recover } from './recovery.ts';
import type { SceneOptions } from './scene.ts';
import type { Finding } from './verdict.ts';
import { wakeZombies } from './zombie.ts';

export interface SectionOptions {
  /** The embedded store if absent. */
  readonly server: Postgres | undefined;
  readonly kills: number;
  readonly workers: number;
  readonly seed: number;
}

export interface Section {
  readonly name: string;
  readonly findings: readonly Finding[];
  /** Problems of the run itself: failed processes, failpoints that were not passed. */
  readonly problems: readonly string[];
  /** Errors that engines reported and survived. */
  readonly told?: readonly string[];
  readonly remark: string;
}

const passes = [1, 2, 5];
const cycles = 50;
const powerCuts = 100;
/** Such a process lives for seconds, others for a fraction of one. */
const batchKillsShare = 5;
const itemsHeld = 64;
const recoveryMsMax = 1_000;

/** Scenes with stores of their own; while one waits for its processes, others use the machine. */
const scenesAtOnce = 4;

/** By the names that `--only` takes. */
export const sectionsOfStore: Readonly<
  Record<string, (options: SectionOptions) => Promise<Section>>
> = {
  random: randomSection,
  failpoints: failpointSection,
  zombies: zombieSection,
  recovery: recoverySection,
  batch: batchSection,
};

async function randomSection(options: SectionOptions): Promise<Section> {
  const { kills, workers, seed } = options;
  const result = await inScene(options, (scene) =>
    killAtRandom({ ...scene, kills, workers, seed }),
  );
  const { jobs, items, calls, askedAgain, stops, findings, errors } = result;
  const seconds = ((result.killMs + result.restMs) / 1000).toFixed(0);
  const paid = `${calls} paid calls, ${askedAgain} texts again after a kill during a response`;
  const work = `${items} items of ${jobs} jobs, ${paid}, ${seconds} s`;
  const remark = `${work}; ${stops} stops`;
  const told = result.remarks;
  return { name: `${kills} kills ${on(options)}`, findings, problems: errors, told, remark };
}

async function failpointSection(options: SectionOptions): Promise<Section> {
  const findings: Finding[] = [];
  const problems: string[] = [];
  const cases = failpoints.flatMap((failpoint) => passes.map((nth) => ({ failpoint, nth })));
  await inGroups(cases, scenesAtOnce, async ({ failpoint, nth }) => {
    const at = { failpoint, nth, seed: options.seed };
    const result = await inScene(options, (scene) => killAtFailpoint(scene, at));
    findings.push(...result.findings);
    problems.push(...result.errors);
    if (!result.isHit) problems.push(`no process passed ${failpoint} ${nth} times`);
  });
  const remark = `${failpoints.length} points, each at pass ${passes.join(', ')}`;
  return { name: `every failpoint ${on(options)}`, findings, problems, remark };
}

async function zombieSection(options: SectionOptions): Promise<Section> {
  const { seed } = options;
  const result = await inScene(options, (scene) => wakeZombies(scene, { cycles, seed }));
  const { taken, refused, paidByZombies, findings } = result;
  const problems = [...result.errors, ...(refused > 0 ? [] : ['no zombie reported'])];
  const remark = `${taken} leases taken, ${refused} reports refused, ${paidByZombies} paid in vain`;
  return { name: `${cycles} zombies ${on(options)}`, findings, problems, remark };
}

async function recoverySection(options: SectionOptions): Promise<Section> {
  const { seed } = options;
  const result = await inScene(options, (scene) => recover(scene, { places: itemsHeld, seed }));
  const { leased, fromReadyMs, fromSpawnMs, findings } = result;
  const problems = result.rerun.map((step) => `${step} ran again`);
  // A promise for one machine; on a server, dropping the work of dead connections takes its own
  // time.
  if (!options.server && fromReadyMs > recoveryMsMax) {
    problems.push(`recovery took ${fromReadyMs} ms`);
  }
  const remark = `${leased} items continued in ${fromReadyMs} ms, ${fromSpawnMs} ms from the spawn`;
  return { name: `recovery ${on(options)}`, findings, problems, remark };
}

/** Batch tasks, with processes that have the provider and one that does not. */
async function batchSection(options: SectionOptions): Promise<Section> {
  const { seed } = options;
  const kills = Math.ceil(options.kills / batchKillsShare);
  const random = await inScene(options, (scene) => killBatchWorkers({ ...scene, kills, seed }));
  const findings = [...random.findings];
  const problems = [...random.errors];
  await inGroups(batchFailpoints, scenesAtOnce, async (failpoint) => {
    const result = await inScene(options, (scene) => killBatchWorkerAt(scene, { failpoint, seed }));
    findings.push(...result.findings);
    problems.push(...result.errors);
    if (!result.isHit) problems.push(`no process passed ${failpoint}`);
  });
  const { documents, tasks, batches, charged } = random;
  const work = `${documents} documents and ${tasks} tasks in ${batches} batches`;
  const remark = `${work}, ${charged} requests charged; ${batchFailpoints.length} failpoints`;
  return { name: `${kills} batch kills ${on(options)}`, findings, problems, remark };
}

/** With a control: the same cuts must lose something if the store did not flush. */
export async function powerSection(seed: number): Promise<Section> {
  const without = ['nothing', 'log'] as const;
  const results = await cutPower({ jobs: powerCuts, seed, without });
  const [result, control] = results as [PowerLossResult, PowerLossResult];
  const { states, lost, unreadable } = result;
  const findings: Finding[] = [];
  if (lost + unreadable > 0) {
    findings.push({ fault: 'lost', what: `${lost} states, and ${unreadable} cannot be read` });
  }
  const shown = control.lost + control.unreadable;
  const problems = shown > 0 ? [] : ['no cut loses anything, even without flushes'];
  const remark = `without flushes cut ${control.states} would be the first to lose something`;
  return { name: `${states} power cuts on SQLite`, findings, problems, remark };
}

function on({ server }: SectionOptions): string {
  return `on ${server ? 'Postgres' : 'SQLite'}`;
}

async function inScene<Result>(
  { server }: SectionOptions,
  run: (options: SceneOptions) => Promise<Result>,
): Promise<Result> {
  const directory = makeDirectory();
  const databaseUrl = await server?.createDatabase();
  try {
    return await run({ directory, databaseUrl });
  } finally {
    removeDirectory(directory);
    if (server && databaseUrl) await dropDatabase(server.url, databaseUrl);
  }
}

/** A hundred databases would delay the shutdown of the server by minutes. */
async function dropDatabase(serverUrl: string, databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    const name = new URL(databaseUrl).pathname.slice(1);
    await client.query(`DROP DATABASE ${pg.escapeIdentifier(name)} WITH (FORCE)`);
  } finally {
    await client.end();
  }
}
