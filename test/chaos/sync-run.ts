/**
 * `npm run chaos -- sync [--kills N --store sqlite|postgres|both --kind KIND --seed S]`: kills
 * processes that follow sources of each kind. The last line gives the result.
 */

import { prepareMachine } from '../support/machine.ts';
import { parseOptions } from '../support/parse-options.ts';
import { startPostgres } from '../support/postgres.ts';
import { killedPlaces } from '../support/sync-places.ts';
import { type Cleanup, makeDirectory, removeDirectory } from '../support/temporary.ts';
import { killFollowers, type SyncKillResult } from './sync-kills.ts';

const usage =
  'use: npm run chaos -- sync [--kills N] [--store sqlite|postgres|both] [--kind KIND] [--seed S]';

export async function runSync(args: readonly string[]): Promise<number> {
  const { values } = parseOptions({
    args: [...args],
    options: {
      kills: { type: 'string', default: '200' },
      store: { type: 'string', default: 'both' },
      kind: { type: 'string' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
    },
  });
  const [kills, seed] = [Number(values.kills), Number(values.seed)];
  const stores = values.store === 'both' ? ['sqlite', 'postgres'] : [values.store];
  const isStore = stores.every((store) => store === 'sqlite' || store === 'postgres');
  if (!kills || Number.isNaN(seed) || !isStore) {
    console.error(usage);
    return 64;
  }
  prepareMachine(console.log);
  console.log(`seed ${seed}`);
  const server = stores.includes('postgres') ? await startPostgres() : undefined;
  try {
    const results: SyncKillResult[] = [];
    for (const store of stores) {
      const postgres = store === 'postgres' ? server : undefined;
      const share = Math.ceil(kills / stores.length / (values.kind ? 1 : killedPlaces.length));
      for (const [index, makePlace] of killedPlaces.entries()) {
        await withCleanup(async (t) => {
          const place = await makePlace(t);
          if (values.kind !== undefined && place.kind !== values.kind) return;
          const directory = makeDirectory();
          t.after(() => removeDirectory(directory));
          const databaseUrl = await postgres?.createDatabase();
          const given = { place, directory, databaseUrl, kills: share, seed: seed + index };
          const result = await killFollowers(given);
          results.push(result);
          show(`${place.kind} on ${store}`, result);
        });
      }
    }
    return verdict(results);
  } finally {
    await server?.stop();
  }
}

async function withCleanup(work: (t: Cleanup) => Promise<void>): Promise<void> {
  const releases: (() => void | Promise<void>)[] = [];
  try {
    await work({ after: (release) => void releases.push(release) });
  } finally {
    for (const release of releases.reverse()) await release();
  }
}

function show(name: string, { kills, atFailpoints, runs, ...found }: SyncKillResult): void {
  console.log(`${name}: ${kills} kills, ${atFailpoints} at failpoints, ${runs} runs`);
  for (const what of found.differences) console.log(`  difference: ${what}`);
  for (const what of found.paidTwice) console.log(`  paid twice: ${what}`);
  for (const what of found.errors) console.log(`  problem: ${what}`);
}

function verdict(results: readonly SyncKillResult[]): number {
  const sum = (count: (result: SyncKillResult) => number): number =>
    results.reduce((whole, result) => whole + count(result), 0);
  const differences = sum((result) => result.differences.length);
  const paidTwice = sum((result) => result.paidTwice.length);
  const problems = sum((result) => result.errors.length);
  const kills = `${sum((result) => result.kills)} kills`;
  console.log(
    `\n${kills}, ${sum((result) => result.atFailpoints)} at failpoints: ` +
      `${differences} differences, ${paidTwice} paid twice, ${problems} problems`,
  );
  return differences + paidTwice + problems === 0 ? 0 : 1;
}
