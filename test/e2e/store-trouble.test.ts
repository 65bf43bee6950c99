/** A missing, damaged or read-only database is reported as such. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { ServiceOptions } from '../../src/app/role/service.ts';
import { failures, open } from '../../src/index.ts';
import { toFailure } from '../../src/kernel/failure/failure.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { startPostgres } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { openBench } from './api-client.ts';

const job = (text: string) => ({ corpus_name: 'notes', documents: [{ text }] });

test('nothing is accepted into a deleted database', async (t) => {
  const data = temporaryDirectory(t);
  const bench = await openBench(t, { data });
  await bench.ended(await bench.submit(job('The walrus sleeps.')));
  for (const name of readdirSync(data).filter((each) => each.startsWith('pawl.db'))) {
    rmSync(join(data, name));
  }
  const { status, body } = await bench.ask('POST /jobs', { body: job('Another one.') });
  assert.deepEqual([status, body.code], [503, 'store_gone']);
  assert.equal((await bench.ask('GET /readyz')).status, 503);
});

describe('an unusable database', () => {
  const damages: readonly [what: string, damage: (path: string) => void, code: string][] = [
    ['of garbage', (path) => writeFileSync(path, 'garbage '.repeat(2000)), 'store_damaged'],
    ['that was cut short', (path) => truncateSync(path, 5000), 'store_damaged'],
    [
      'that is a folder',
      (path) => {
        rmSync(path);
        mkdirSync(path);
      },
      'store_read_only',
    ],
  ];
  for (const [what, damage, code] of damages) {
    test(`${what} is ${code}, with advice`, async (t) => {
      const data = temporaryDirectory(t);
      const pawl = await open({ data, work: false });
      await sessionOf(pawl).submit([{ kind: 'inline', source: 'inline:a' }], { corpus: 'notes' });
      await pawl.close();
      damage(join(data, 'pawl.db'));
      const error = await open({ data, work: false })
        .then(
          async (opened) => {
            try {
              await opened.jobs();
            } finally {
              await opened.close();
            }
          },
          (refused: unknown) => refused,
        )
        .catch((refused: unknown) => refused);
      assert.equal(toFailure(error).code, code, String(error));
      assert.doesNotMatch(failures[toFailure(error).code].advice, /defect/);
    });
  }

  test('below a file is store_read_only', async () => {
    await assert.rejects(open({ data: '/dev/null/x' }), { code: 'store_read_only' });
  });
});

/** The response to a NUL in each field. */
async function nulStatuses(t: TestContext, options: Partial<ServiceOptions> = {}) {
  const bench = await openBench(t, options);
  await bench.ended(await bench.submit(job('The walrus sleeps.')));
  const found: [string, number][] = [];
  const documents = [{ text: 'a\0b' }, { text: 'a', id: 'a\0b' }, { text: 'a', title: 'a\0b' }];
  for (const document of documents) {
    const body = { corpus_name: 'notes', documents: [document] };
    found.push([JSON.stringify(document), (await bench.ask('POST /jobs', { body })).status]);
  }
  for (const name of ['title', 'heading', 'language']) {
    const body = { corpus_name: 'notes', query: 'walrus', filter: { [name]: '\0' } };
    found.push([name, (await bench.ask('POST /search', { body })).status]);
  }
  const paths = ['jobs/%00', 'documents/%00', 'corpora/notes/entities/%00', 'inbox?cause=%00'];
  for (const path of [...paths, 'batch/tasks/%00']) {
    found.push([path, (await fetch(`${bench.service.address}/${path}`)).status]);
  }
  return found;
}

test('a NUL is refused in every field, and the same on both stores', async (t) => {
  const postgres = await startPostgres({ durable: false });
  t.after(() => postgres.stop());
  const onSqlite = await nulStatuses(t);
  for (const [where, status] of onSqlite) assert.equal(status, 400, where);
  const databaseUrl = await postgres.createDatabase();
  assert.deepEqual(await nulStatuses(t, { database: databaseUrl }), onSqlite);
});

test('a runtime without free file handles is a busy machine', () => {
  const error = new Error('Cannot read package config /a/package.json: too many open files');
  assert.equal(toFailure(error).code, 'machine_busy');
});
