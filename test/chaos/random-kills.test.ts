/** The short version of `npm run chaos`: real processes, killed at random moments. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { firstSeed } from '../support/first-seed.ts';
import { startPostgres } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { type KillResult, killAtRandom } from './random-kills.ts';

const seed = firstSeed(import.meta.url);

describe('kills at random moments lose, duplicate, leave and overpay nothing', () => {
  test('16 on SQLite', async (t) => {
    const directory = temporaryDirectory(t);
    assertClean(await killAtRandom({ directory, kills: 16, workers: 3, seed }));
  });

  test('8 on Postgres', async (t) => {
    const directory = temporaryDirectory(t);
    const server = await startPostgres();
    t.after(() => server.stop());
    const databaseUrl = await server.createDatabase();
    assertClean(await killAtRandom({ directory, databaseUrl, kills: 8, workers: 3, seed }));
  });
});

function assertClean({ findings, errors, items, kills }: KillResult): void {
  assert.deepEqual({ findings, errors }, { findings: [], errors: [] });
  assert.ok(items > kills / 2, `only ${items} items were submitted`);
}
