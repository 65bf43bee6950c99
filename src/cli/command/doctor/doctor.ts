/** `pawl doctor`: is this machine fit, is the store sound, and if not, what to do. */
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { openBlobs } from '../../../app/adapter/blobs.ts';
import { openSinks } from '../../../app/adapter/sinks.ts';
import type { Config } from '../../../app/settings/config.ts';
import { unservedReasons } from '../../../engine/batch/waiting.ts';
import type { Pawl } from '../../../index.ts';
import { failures, toFailure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { findBrowser } from '../../../pipeline/fetch/browser/launch.ts';
import { findDamage, readDurability, readSchemaVersion } from '../../../store/driver/health.ts';
import { migrations } from '../../../store/driver/migrate.ts';
import { countWithoutCause } from '../../../store/item/items.ts';
import { arePointsFilled } from '../../../store/search/pgvector-rows.ts';
import {
  type Call,
  type Command,
  exits,
  refuseMissing,
  storePath,
  withPawl,
} from '../../command.ts';
import { engineOptions } from '../../engine-options.ts';
import { bytes, count } from '../../view/wording.ts';

export interface Finding {
  readonly check: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do, where something is. */
  readonly advice?: string | undefined;
}

export const doctor: Command = {
  name: 'doctor',
  summary: 'check this machine, the store and what they lean on, and say what to do',
  usage: ['doctor'],
  isLocal: true,
  run: async (call) => {
    const { data, browser } = call.config;
    // A store is sound or not, whatever is the matter with a browser or a model.
    const alone = { ...call.config, ...withoutModels };
    const store = await checkStore({ ...call, config: alone });
    const sinks = await checkOutside(alone);
    // Loaded here, so that no other command has to wait for it.
    const { checkRedis } = await import('./redis.ts');
    const { checkProviders } = await import('./providers.ts');
    const machine = [checkNode(), ...checkFolder(data), ...checkBrowser(browser)];
    const asked = [...(await checkRedis(call.config)), ...(await checkProviders(call.config))];
    const findings = [...machine, ...asked, ...sinks, ...store];
    for (const finding of findings) printFinding(call, finding);
    return findings.some(({ verdict }) => verdict === 'fail') ? exits.error : exits.well;
  },
};

const withoutModels = {
  browser: 'off',
  batchProviders: undefined,
  embedder: 'local',
  extractor: 'local',
} as const;

const styles = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

function printFinding({ terminal, isJson }: Call, finding: Finding): void {
  if (isJson) {
    terminal.print(JSON.stringify(finding));
    return;
  }
  const { check, verdict, found, advice } = finding;
  const mark = terminal.paint(styles[verdict], verdict.padEnd(4));
  terminal.print(`${mark}  ${check.padEnd(14)}  ${found}`);
  if (advice) terminal.print(`${' '.repeat(22)}${terminal.paint('dim', '→')} ${advice}`);
}

const nodeMajorMin = 24;

function checkNode(): Finding {
  const found = process.version;
  const isFit = Number.parseInt(process.versions.node, 10) >= nodeMajorMin;
  if (isFit) return { check: 'Node', verdict: 'ok', found };
  const advice = `run \`npm install\`: it brings Node ${nodeMajorMin} along`;
  return { check: 'Node', verdict: 'fail', found, advice };
}

function checkBrowser(setting: string): Finding[] {
  try {
    const found = findBrowser(setting);
    return found === undefined ? [] : [{ check: 'browser', verdict: 'ok', found }];
  } catch (error) {
    const advice = 'install Chromium, set PAWL_BROWSER to its path, or to off';
    return [{ check: 'browser', verdict: 'fail', found: toFailure(error).message, advice }];
  }
}

/** The bucket, and what is delivered to beside the store. */
async function checkOutside(config: Config): Promise<Finding[]> {
  const { blobs: settings, sinks, world } = engineOptions(config);
  const blobs = await openBlobs(settings, { data: config.data, world });
  const open = await openSinks(sinks, world);
  const signal = AbortSignal.timeout(limits.sink.searchMs);
  const asked: [string, () => Promise<string>][] = open.sinks.map((sink) => [
    sink.name,
    () => sink.check(signal),
  ]);
  const { check: checkBlobs } = blobs;
  if (checkBlobs) asked.unshift(['blobs', checkBlobs]);
  const findings = asked.map(async ([check, ask]): Promise<Finding> => {
    try {
      return { check, verdict: 'ok', found: await ask() };
    } catch (error) {
      const { code, message } = toFailure(error);
      return { check, verdict: 'fail', found: message, advice: failures[code].advice };
    }
  });
  const found = await Promise.all(findings);
  await Promise.all([open.close(), blobs.close()]);
  return found;
}

const freeBytesMin = 1024 ** 3;

function checkFolder(path: string): Finding[] {
  const folder = resolve(path);
  const nearest = nearestExisting(folder);
  const findings: Finding[] = [];
  try {
    accessSync(nearest, constants.R_OK | constants.W_OK | constants.X_OK);
    const found = nearest === folder ? folder : `${folder} (will be made)`;
    findings.push({ check: 'data folder', verdict: 'ok', found });
  } catch (error) {
    const found = `${nearest} is not writable (${(error as NodeJS.ErrnoException).code})`;
    const advice = 'give this user the right to write there, or name another folder with --data';
    findings.push({ check: 'data folder', verdict: 'fail', found, advice });
  }
  const { bavail, bsize } = statfsSync(nearest);
  const free = bavail * bsize;
  const isEnough = free >= freeBytesMin;
  const advice = isEnough ? undefined : 'free some disk space, or point PAWL_DATA at a larger disk';
  const verdict = isEnough ? 'ok' : 'warn';
  findings.push({ check: 'free space', verdict, found: bytes(free), advice });
  return findings;
}

function nearestExisting(folder: string): string {
  return existsSync(folder) || folder === dirname(folder)
    ? folder
    : nearestExisting(dirname(folder));
}

async function checkStore(call: Call): Promise<Finding[]> {
  const { config } = call;
  const isPostgres = config.databaseUrl !== undefined;
  if (!isPostgres && !existsSync(storePath(config))) {
    const advice = 'the first `pawl ingest` makes it';
    return [{ check: 'store', verdict: 'ok', found: 'none yet', advice }];
  }
  try {
    refuseMissing(call);
    return await withPawl(call, { work: false }, (pawl) =>
      examine(pawl, isPostgres ? 'Postgres' : 'SQLite'),
    );
  } catch (error) {
    const found = toFailure(error).message;
    const advice = isPostgres
      ? 'check that Postgres runs at PAWL_DATABASE_URL and that the user may log in'
      : 'restore the folder from a backup, or move it away and ingest again';
    return [{ check: 'store', verdict: 'fail', found, advice }];
  }
}

async function examine(pawl: Pawl, database: string): Promise<Finding[]> {
  const { store } = pawl;
  const version = await readSchemaVersion(store);
  const newest = migrations.at(-1)?.version ?? 0;
  const damage = await findDamage(store);
  const { isDurable, found } = await readDurability(store);
  const stranded = await countWithoutCause(store);
  const workers = await pawl.workers();
  return [
    { check: 'store', verdict: 'ok', found: `${database}, schema ${version} of ${newest}` },
    judge('integrity', damage.length === 0, damage.join('; ') || 'no damage', {
      advice: 'stop Pawl, keep a copy of the folder, and restore it from a backup',
    }),
    judge('durability', isDurable, found, {
      advice:
        'something has changed the settings of the store: a commit may be lost with the power',
    }),
    judge('items', stranded === 0, `${stranded} without a cause to move`, {
      advice: 'this is a defect in Pawl: please report it, with `pawl jobs events ID --json`',
    }),
    {
      check: 'workers',
      verdict: 'ok',
      found:
        workers.length === 0
          ? 'none at work now'
          : `${count(workers.length, 'process', 'processes')} at work`,
    },
    ...(await checkBatchTasks(pawl)),
    ...(await checkPgvector(pawl)),
  ];
}

/** Batch tasks whose provider no running process has the settings of. */
async function checkBatchTasks({ store }: Pawl): Promise<Finding[]> {
  const reasons = await unservedReasons(store);
  return reasons.map((found) => ({
    check: 'batch tasks',
    verdict: 'warn',
    found,
    advice: 'start a Pawl that works on this store, with PAWL_BATCH_PROVIDERS',
  }));
}

/** Nothing is wrong without it; but who could have it should know. */
async function checkPgvector({ pgvector, store }: Pawl): Promise<Finding[]> {
  if (!pgvector) return [];
  const { isUsed, found, advice } = pgvector;
  const verdict = advice === undefined ? 'ok' : 'warn';
  if (!isUsed || (await arePointsFilled(store))) {
    return [{ check: 'pgvector', verdict, found, advice }];
  }
  const waiting = 'it is being given the vectors that were there before it, and not asked yet';
  return [{ check: 'pgvector', verdict, found: `${found}; ${waiting}` }];
}

function judge(
  check: string,
  isWell: boolean,
  found: string,
  { advice }: { readonly advice: string },
): Finding {
  return isWell ? { check, verdict: 'ok', found } : { check, verdict: 'fail', found, advice };
}
