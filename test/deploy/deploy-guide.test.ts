/**
 * Runs the commands of docs/guide/deploy.md in a folder that stands for the root of a machine.
 * Commands that need the network or systemd are recorded but not run; the written files are parsed
 * by their programs.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import pg from 'pg';
import { checkRole } from '../../src/app/role/roles.ts';
import { loadConfig } from '../../src/app/settings/config.ts';
import { type Block, followGuide, root, shellBlocks, whyNotReadable } from '../support/guide.ts';
import { checkInstalled } from '../support/nginx.ts';
import { startPostgres } from '../support/postgres.ts';
import { answersPing } from '../support/redis.ts';
import {
  findExecutable,
  startServer,
  unprivilegedIdentity,
  withFreePort,
} from '../support/server.ts';
import { makeDirectory, removeDirectory, temporaryDirectory } from '../support/temporary.ts';

const blocks = shellBlocks('docs/guide/deploy.md');
const under = (...titles: string[]): Block[] =>
  blocks.filter(({ headings }) => titles.some((title) => headings.at(-1) === title));
const skip = whyNotReadable(unprivilegedIdentity()) ?? false;

describe('the guide to deploying', () => {
  test('installs one machine: the gateway, the unit, and settings that Pawl accepts', async (t) => {
    if (skip) return t.skip(skip);
    const { machine, commands } = await follow(t, under('One machine'));
    assert.equal(checkInstalled(join(machine, 'etc/pawl-gateway')), undefined);
    assert.ok(existsSync(join(machine, 'etc/systemd/system/pawl@.service')));
    const { config, warnings } = loadConfig({ environment: settingsIn(machine) });
    assert.deepEqual([warnings, config.apiKeys?.length], [[], 1]);
    assertStarted(machine, commands, ['pawl@all', 'pawl-gateway']);
  });

  test('creates the role and the database of Postgres', { skip }, async (t) => {
    const { settings, postgres } = await followStores(t);
    const url = new URL(settings.PAWL_DATABASE_URL ?? '');
    url.host = `127.0.0.1:${postgres.port}`;
    await ask(url.href, 'CREATE TABLE owned ()');
    const [who] = await ask(url.href, 'SELECT current_user, current_database()');
    assert.deepEqual(who, { current_user: 'pawl', current_database: 'pawl' });
    const rules = await ask(
      postgres.url.replace('pawl@', 'postgres@'),
      "SELECT auth_method, error FROM pg_hba_file_rules WHERE 'pawl' = ANY (user_name)",
    );
    assert.deepEqual(rules, [{ auth_method: 'scram-sha-256', error: null }]);
  });

  test('installs three persistent Redis, each with a password', { skip }, async (t) => {
    const { machine, settings } = await followStores(t);
    for (const name of ['orch', 'scrape', 'embed'] as const) {
      const { password, port: told } = new URL(
        settings[`PAWL_REDIS_${name.toUpperCase()}_URL`] ?? '',
      );
      const file = join(machine, `etc/redis/redis-${name}.conf`);
      assert.ok(readFileSync(file, 'utf8').includes(`\nport ${told}\n`), name);
      const port = await startFrom(t, file);
      const asked = (value: string): string =>
        spawnSync('redis-cli', ['-p', String(port), 'CONFIG', 'GET', value], {
          encoding: 'utf8',
          env: { ...process.env, REDISCLI_AUTH: password },
        }).stdout;
      assert.match(asked('maxmemory-policy'), /noeviction/);
      assert.match(asked('appendonly'), /yes/);
    }
  });

  test('gives every role its settings, and the gateway their addresses', { skip }, async (t) => {
    const { machine, commands, settings } = await followStores(t);
    const { config, warnings } = loadConfig({ environment: settings });
    assert.deepEqual(warnings, []);
    for (const role of ['orchestrator', 'scraper', 'chunking', 'embedding'] as const) {
      checkRole(role, config);
    }
    assert.equal(checkInstalled(join(machine, 'etc/pawl-gateway')), undefined);
    const read = (name: string) =>
      readFileSync(join(machine, 'etc/pawl-gateway/place', name), 'utf8');
    for (const name of ['upstreams.conf', 'internal.conf']) {
      for (const address of Object.values(addresses)) assert.ok(read(name).includes(address));
      assert.doesNotMatch(read(name), /10\.0\.0\.1[1-4]/);
    }
    assertStarted(machine, commands, ['redis-server@orch', 'redis-server@embed']);
  });

  test('starts each role on its own machine', async (t) => {
    if (skip) return t.skip(skip);
    const steps = under('Four machines', 'The machine of each role');
    const { machine, commands } = await follow(t, steps, { ROLE: 'scraper' });
    assertStarted(machine, commands, ['pawl@scraper']);
  });

  test('names files and services of compose that exist', () => {
    const text = under('Compose').map((block) => block.text);
    assert.ok(text.length > 0);
    for (const [path] of text.join('\n').matchAll(/deploy\/[\w.]+(?: )/g)) {
      const file = path.trim().replace('deploy/.env', 'deploy/example.env');
      assert.ok(existsSync(join(root, file)), file);
    }
  });

  test('has no untested command', () => {
    const known = ['One machine', 'Four machines', 'Compose'];
    for (const { headings, line } of blocks)
      assert.ok(known.includes(headings[1] ?? ''), `${line}`);
  });
});

/** On another network than the one in the guide. */
const addresses = {
  ...{ ORCHESTRATOR: '127.0.9.11', SCRAPER: '127.0.9.12' },
  ...{ CHUNKING: '127.0.9.13', EMBEDDING: '127.0.9.14' },
};

const noted = 'echo "$(basename "$0") $*" >> "$COMMANDS"';

/** Commands that are skipped, or replaced because the test is not root. */
const stubs: Readonly<Record<string, string>> = {
  ...{ 'apt-get': noted, npm: noted, systemctl: noted, curl: noted },
  git: `${noted}\n[ "$1" = clone ] && ln -s "$2" "$3"`,
  install: 'exec /usr/bin/install $(echo "$*" | sed -E "s/-[og] [a-z]+ ?//g")',
  runuser: 'shift 3\nexec "$@"',
};

async function follow(t: TestContext, steps: readonly Block[], more: Record<string, string> = {}) {
  assert.ok(steps.length > 0);
  const home = temporaryDirectory(t);
  const machine = join(home, 'machine');
  const writable = ['etc/systemd/system', 'etc/redis', 'var/lib/redis', 'opt', 'stubs'];
  for (const folder of writable) mkdirSync(join(machine, folder), { recursive: true });
  for (const [name, text] of Object.entries(stubs)) {
    const path = join(machine, 'stubs', name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
  }
  const moved = steps.map((step) => ({
    ...step,
    text: step.text.replaceAll(/(?<![\w./])\/(?=(?:etc|opt|var)\/)/g, `${machine}/`),
  }));
  const environment = {
    PATH: `${join(machine, 'stubs')}:${process.env.PATH}`,
    ...{ COMMANDS: join(home, 'commands.log'), REPOSITORY: root, STORES: '127.0.9.10' },
    ...{ NETWORK: '127.0.0.0/8', ...addresses, ...more },
  };
  const { code, report } = await followGuide(t, moved, { home, environment, logs: '*.log' });
  assert.equal(code, 0, report);
  return { machine, commands: readFileSync(environment.COMMANDS, 'utf8') };
}

async function followStores(t: TestContext) {
  const postgres = await startPostgres({ durable: false });
  t.after(() => postgres.stop());
  // The guide starts with a Postgres whose superuser is `postgres`, and which has no role `pawl`.
  const as = (user: string): string => postgres.url.replace('pawl@', `${user}@`);
  await ask(as('pawl'), 'CREATE ROLE postgres SUPERUSER LOGIN');
  await ask(as('postgres'), 'ALTER ROLE pawl RENAME TO tests');
  const server = { PGHOST: '127.0.0.1', PGPORT: String(postgres.port), PGUSER: 'postgres' };
  const steps = under('Four machines', 'The machine of the stores');
  const followed = await follow(t, steps, { ...server, PGDATABASE: 'postgres' });
  return { ...followed, postgres, settings: settingsIn(followed.machine) };
}

async function ask(url: string, text: string): Promise<object[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(text).finally(() => client.end());
  return rows;
}

function settingsIn(machine: string): Record<string, string> {
  const text = readFileSync(join(machine, 'etc/pawl/pawl.env'), 'utf8');
  const lines = text.trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

/** Every unit passed to systemctl is installed by the guide, or by Debian's packages. */
function assertStarted(machine: string, commands: string, wanted: readonly string[]): void {
  const calls = [...commands.matchAll(/^systemctl (?:enable|disable|restart)(?: --now)? (.+)$/gm)];
  const named = calls.flatMap(([, units = '']) => units.split(' '));
  for (const unit of wanted) assert.ok(named.includes(unit), `${unit} is not started`);
  const packaged = ['nginx', 'postgresql', 'redis-server', 'redis-server@'];
  for (const unit of named) {
    const template = unit.replace(/@.*/, '@');
    const file = join(machine, 'etc/systemd/system', `${template}.service`);
    assert.ok(packaged.includes(template) || existsSync(file), unit);
  }
}

/** A Redis with the given file, on another port and in another folder; returns the port. */
async function startFrom(t: TestContext, file: string): Promise<number> {
  const directory = makeDirectory();
  const start = async (port: number) => {
    const args = [file, '--port', String(port), '--dir', directory];
    const executable = findExecutable('redis-server') ?? 'redis-server';
    const ready = () => answersPing(port, /^-NOAUTH/);
    const server = await startServer({ name: 'Redis', executable, args, directory, ready });
    t.after(async () => {
      await server.stop('SIGTERM');
      removeDirectory(directory);
    });
    return port;
  };
  return withFreePort(start);
}
