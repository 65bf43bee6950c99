import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import { isAlive } from '../support/process-state.ts';
import { answersPing, startRedis } from '../support/redis.ts';
import { withFreePort } from '../support/server.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { until, untilEqual } from '../support/wait.ts';

describe('Postgres for tests', () => {
  test('two run at once, on their own ports, and are gone after stop', async () => {
    const servers = await Promise.all([startPostgres({ durable: false }), startPostgres()]);
    const [first, second] = servers;
    assert.notEqual(first.port, second.port);
    assert.equal(await ask(first.url, 'SHOW fsync'), 'off');
    assert.equal(await ask(second.url, 'SHOW fsync'), 'on');
    await Promise.all(servers.map((server) => server.stop()));
    assert.ok(servers.every((server) => !isLiving(server.pid)));
    await assert.rejects(ask(first.url, 'SELECT 1'), /ECONNREFUSED/);
  });

  describe('one server', () => {
    let server: Postgres;
    before(async () => {
      server = await startPostgres({ settings: { max_connections: 7 } });
    });
    after(() => server.stop());

    test('uses the given settings', async () => {
      assert.equal(await ask(server.url, 'SHOW max_connections'), '7');
    });

    test('creates new databases, empty and separate', async () => {
      const [one, two] = [await server.createDatabase(), await server.createDatabase('named')];
      await ask(one, 'CREATE TABLE note (text text)');
      const tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
      assert.equal(await ask(one, tables), '1');
      assert.equal(await ask(two, tables), '0');
    });

    for (const mode of ['fast', 'immediate'] as const) {
      test(`keeps committed data over a restart (${mode})`, async () => {
        await ask(server.url, `CREATE TABLE kept_${mode} AS SELECT 42 AS number`);
        const { pid } = server;
        await server.restart(mode);
        assert.notEqual(server.pid, pid);
        assert.equal(await ask(server.url, `SELECT number FROM kept_${mode}`), 42);
      });
    }
  });
});

describe('Redis for tests', () => {
  test('two run at once, on their own ports, and are gone after stop', async () => {
    const servers = await Promise.all([startRedis(), startRedis({ appendonly: true })]);
    const [first, second] = servers;
    assert.notEqual(first.port, second.port);
    assert.ok((await answersPing(first.port)) && (await answersPing(second.port)));
    await Promise.all(servers.map((server) => server.stop()));
    assert.ok(servers.every((server) => !isLiving(server.pid)));
    await assert.rejects(answersPing(first.port), /ECONNREFUSED/);
  });

  test('it serves again on the same port after a crash', async (t) => {
    const server = await startRedis({ appendonly: true });
    t.after(() => server.stop());
    const { pid } = server;
    await server.restart('immediate');
    assert.notEqual(server.pid, pid);
    assert.ok(await answersPing(server.port));
  });
});

test('a failed start reports the output of the server', async () => {
  const start = startRedis({ settings: { 'no-such-setting': 'x' } });
  await assert.rejects(start, /Redis ended \(1\)[\s\S]*no-such-setting/);
});

test('a port that was taken in the meantime is replaced by another', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const tried: number[] = [];
  const port = await withFreePort(async (free) => {
    tried.push(free);
    if (tried.length === 1) throw new Error('bind: Address already in use');
    return free;
  });
  assert.deepEqual([tried.length, tried[1]], [2, port]);
});

test('a server dies with a test process that is killed', async (t) => {
  if (process.platform !== 'linux') return t.skip('only Linux signals the death of a parent');
  const directory = temporaryDirectory(t);
  const script = join(directory, 'start.ts');
  const module = new URL('../support/redis.ts', import.meta.url).href;
  writeFileSync(
    script,
    `import { startRedis } from '${module}';\nconsole.log((await startRedis()).pid);`,
  );
  const parent = spawn(process.execPath, [script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: directory },
  });
  const [line] = await once(parent.stdout, 'data');
  const pid = Number(line);
  assert.ok(isLiving(pid));
  parent.kill('SIGKILL');
  await until(() => !isLiving(pid), { what: 'Redis to end with its parent' });
});

test('a temporary directory is removed after its test', async (t) => {
  let directory = '';
  await t.test('inside', (inner) => {
    directory = temporaryDirectory(inner);
    assert.ok(existsSync(directory));
  });
  assert.ok(!existsSync(directory));
});

test('a timeout says what was awaited, for how long, and why', async () => {
  const never = () => Promise.reject(new Error('not there'));
  await assert.rejects(until(never, { what: 'the event', patienceMs: 20 }), (error: Error) => {
    assert.match(error.message, /timed out after 20 ms waiting for the event/);
    assert.match(String(error.cause), /not there/);
    return true;
  });
});

test('a wait for a value ends with it', async () => {
  let count = 0;
  await untilEqual(async () => [count++], [3]);
  assert.equal(count, 4);
});

/** The first column of the first row. */
async function ask(url: string, text: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query({ text, rowMode: 'array' });
    return (rows[0] as unknown[] | undefined)?.[0];
  } finally {
    await client.end();
  }
}

/** A zombie has ended. */
function isLiving(pid: number): boolean {
  if (!isAlive(pid) || process.platform !== 'linux') return isAlive(pid);
  return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}
