/** `pawl doctor`: checks this machine and the store, and says what to do. */
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { openBlobs } from '../../../app/adapter/blobs.ts';
import { openSinks } from '../../../app/adapter/sinks.ts';
import type { Config } from '../../../app/settings/config.ts';
import { unservedReasons } from '../../../engine/batch/waiting.ts';
import { failures, toFailure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { type Session, sessionOf } from '../../../library/internal.ts';
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
import { checkNode } from './node.ts';

export interface Finding {
  readonly check: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do about a problem. */
  readonly advice?: string | undefined;
}

export const doctor: Command = {
  name: 'doctor',
  summary: 'check this machine, the store and its services, and say what to do',
  usage: ['doctor'],
  isLocal: true,
  run: async (call) => {
    const { data, browser } = call.config;
    // The store is checked even if the check of a browser or a model fails.
    const storeOnly = { ...call.config, ...withoutModels };
    const store = await checkStore({ ...call, config: storeOnly });
    const sinks = await checkOutside(storeOnly);
    // Loaded here, so that other commands start faster.
    const { checkRedis } = await import('./redis.ts');
    const { checkProviders } = await import('./providers.ts');
    const machine = [checkNode(), ...checkFolder(data), ...checkBrowser(browser)];
    const asked = [...(await checkRedis(call.config)), ...(await checkProviders(call.config))];
    const findings = [...machine, ...asked, ...sinks, ...store];
    for (const finding of findings) printFinding(call, finding);
    return findings.some(({ verdict }) => verdict === 'fail') ? exits.error : exits.well;
  },
};

export const withoutModels = {
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

function checkBrowser(setting: string): Finding[] {
  try {
    const found = findBrowser(setting);
    return found === undefined ? [] : [{ check: 'browser', verdict: 'ok', found }];
  } catch (error) {
    const advice = 'install Chromium, set PAWL_BROWSER to its path, or to off';
    return [{ check: 'browser', verdict: 'fail', found: toFailure(error).message, advice }];
  }
}

/** The blob bucket and the sinks. */
async function checkOutside(config: Config): Promise<Finding[]> {
  const { blobs: settings, sinks, world } = engineOptions(config);
  const blobs = await openBlobs(settings, { data: config.data, world });
  let open: Awaited<ReturnType<typeof openSinks>>;
  try {
    open = await openSinks(sinks, world);
  } catch (error) {
    await blobs.close();
    return [failed('sinks', error)];
  }
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
      return failed(check, error);
    }
  });
  const found = await Promise.all(findings);
  await Promise.all([open.close(), blobs.close()]);
  return found;
}

export function failed(check: string, error: unknown): Finding {
  const { code, message: found } = toFailure(error);
  return { check, verdict: 'fail', found, advice: failures[code].advice };
}

const freeBytesMin = 1024 ** 3;

function checkFolder(path: string): Finding[] {
  const folder = resolve(path);
  const nearest = nearestExisting(folder);
  const findings: Finding[] = [];
  try {
    accessSync(nearest, constants.R_OK | constants.W_OK | constants.X_OK);
    const found = nearest === folder ? folder : `${folder} (will be created)`;
    findings.push({ check: 'data folder', verdict: 'ok', found });
  } catch (error) {
    const found = `${nearest} is not writable (${(error as NodeJS.ErrnoException).code})`;
    const advice = 'allow this user to write there, or choose another folder with --data';
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

export async function checkStore(call: Call): Promise<Finding[]> {
  const { config } = call;
  const isPostgres = config.databaseUrl !== undefined;
  if (!isPostgres && !existsSync(storePath(config))) {
    const advice = 'the first `pawl ingest` creates it';
    return [{ check: 'store', verdict: 'ok', found: 'none yet', advice }];
  }
  try {
    refuseMissing(call);
    return await withPawl(call, { work: false }, (pawl) =>
      examine(sessionOf(pawl), isPostgres ? 'Postgres' : 'SQLite'),
    );
  } catch (error) {
    const { code, message: found } = toFailure(error);
    if (code === 'package_missing') return [failed('store', error)];
    const advice = isPostgres
      ? 'check that Postgres runs at PAWL_DATABASE_URL and that the user may log in'
      : 'restore the folder from a backup, or move it away and ingest again';
    return [{ check: 'store', verdict: 'fail', found, advice }];
  }
}

async function examine(session: Session, database: string): Promise<Finding[]> {
  const { store } = session;
  const version = await readSchemaVersion(store);
  const newest = migrations.at(-1)?.version ?? 0;
  const damage = await findDamage(store);
  const { isDurable, found } = await readDurability(store);
  const stranded = await countWithoutCause(store);
  const workers = await session.workers();
  return [
    { check: 'store', verdict: 'ok', found: `${database}, schema ${version} of ${newest}` },
    judge('integrity', damage.length === 0, damage.join('; ') || 'no damage', {
      advice: 'stop Pawl, keep a copy of the folder, and restore it from a backup',
    }),
    judge('durability', isDurable, found, {
      advice: 'the settings of the store were changed: a power loss may lose commits',
    }),
    judge('items', stranded === 0, `${stranded} stuck`, {
      advice: 'this is a bug in Pawl: please report it, with `pawl jobs events ID --json`',
    }),
    {
      check: 'workers',
      verdict: 'ok',
      found:
        workers.length === 0
          ? 'no process is running'
          : `${count(workers.length, 'process', 'processes')} running`,
    },
    ...(await checkBatchTasks(session)),
    ...(await checkPgvector(session)),
  ];
}

/** Batch tasks at a provider that no running process is configured for. */
async function checkBatchTasks({ store }: Session): Promise<Finding[]> {
  const reasons = await unservedReasons(store);
  return reasons.map((found) => ({
    check: 'batch tasks',
    verdict: 'warn',
    found,
    advice: 'start a Pawl process on this store with PAWL_BATCH_PROVIDERS',
  }));
}

/** pgvector is optional. The check says so where it could be installed. */
async function checkPgvector({ pgvector, store }: Session): Promise<Finding[]> {
  if (!pgvector) return [];
  const { isUsed, found, advice } = pgvector;
  const verdict = advice === undefined ? 'ok' : 'warn';
  if (!isUsed || (await arePointsFilled(store))) {
    return [{ check: 'pgvector', verdict, found, advice }];
  }
  const waiting = 'existing vectors are being copied to it; searches do not use it yet';
  return [{ check: 'pgvector', verdict, found: `${found}; ${waiting}` }];
}

function judge(
  check: string,
  isOk: boolean,
  found: string,
  { advice }: { readonly advice: string },
): Finding {
  return isOk ? { check, verdict: 'ok', found } : { check, verdict: 'fail', found, advice };
}
