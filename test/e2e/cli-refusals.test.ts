/** Refusals of `pawl`: one line, one code, one exit code, and nothing half-written. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { open } from '../../src/index.ts';
import { type CommandRunner, openRunner } from './pawl-process.ts';

interface Refusal {
  readonly title: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly prepare?: (place: CommandRunner) => void;
  readonly code: string;
  readonly exit: number;
}

const corpus = ['--corpus', 'notes'];

const refusals: readonly Refusal[] = [
  {
    title: 'a corpus name with other characters',
    args: ['ingest', 'docs', '--corpus', 'My Notes'],
    code: 'corpus_name_invalid',
    exit: 64,
  },
  ...['serve', 'open', 'mcp', 'doctor'].map((command) => ({
    title: `an argument of ${command}, which takes none`,
    args: [command, 'docs'],
    code: 'usage_error',
    exit: 64,
  })),
  { title: 'no source', args: ['ingest', ...corpus], code: 'usage_error', exit: 64 },
  {
    title: 'a folder without files',
    args: ['ingest', 'empty', ...corpus],
    prepare: (place) => void place.write('empty/.keep', ''),
    code: 'sources_empty',
    exit: 1,
  },
  {
    title: 'a missing file beside a good one',
    args: ['ingest', 'docs', 'missing.md', ...corpus],
    code: 'source_missing',
    exit: 1,
  },
  {
    title: 'a path below a file',
    args: ['ingest', 'docs/cat.md/deeper', ...corpus],
    code: 'source_missing',
    exit: 1,
  },
  {
    title: 'a folder that is a link to nowhere',
    args: ['ingest', 'link', ...corpus],
    prepare: (place) => symlinkSync(join(place.folder, 'gone'), join(place.folder, 'link')),
    code: 'source_missing',
    exit: 1,
  },
  {
    title: 'a glob without matches',
    args: ['ingest', 'docs/*.pdf', ...corpus],
    code: 'source_missing',
    exit: 1,
  },
  {
    title: 'what is neither a file nor a folder',
    args: ['ingest', '/dev/null', ...corpus],
    code: 'source_unreadable',
    exit: 1,
  },
  {
    title: 'an address with a password',
    args: ['ingest', 'https://user:password@example.com/', ...corpus],
    code: 'invalid_url',
    exit: 1,
  },
  { title: 'an unknown flag', args: ['ingest', 'docs', '--bad'], code: 'usage_error', exit: 64 },
  {
    title: 'a priority out of bounds',
    args: ['ingest', 'docs', '--priority', '10', ...corpus],
    code: 'usage_error',
    exit: 64,
  },
  { title: 'an unknown command', args: ['ingst', 'docs'], code: 'usage_error', exit: 64 },
  {
    title: '--url for a local command',
    args: ['diagram', 'job', '--url', 'http://127.0.0.1:7300'],
    code: 'usage_error',
    exit: 64,
  },
  { title: 'an unknown action', args: ['jobs', 'stop', '1'], code: 'usage_error', exit: 64 },
  {
    title: 'a bad value in the environment',
    args: ['ingest', 'docs', ...corpus],
    environment: { PAWL_WORKERS: 'many' },
    code: 'usage_error',
    exit: 64,
  },
  {
    title: 'a bad value in the configuration file',
    args: ['ingest', 'docs', ...corpus],
    prepare: (place) => void place.write('pawl.config.json', '{ "log": "loud" }'),
    code: 'usage_error',
    exit: 64,
  },
];

async function assertRefused(place: CommandRunner, refusal: Refusal): Promise<void> {
  const { args, environment = {}, code, exit } = refusal;
  const { code: exited, stdout, stderr } = await place.run(args, { environment });
  const [line, advice, ...others] = stderr.trim().split('\n');
  assert.match(line ?? '', new RegExp(`^pawl: .+ \\(${code}\\)$`));
  assert.match(advice ?? '', /\.$/);
  assert.deepEqual({ others, stdout, exited }, { others: [], stdout: '', exited: exit });
  const data = join(place.folder, '.pawl');
  if (!existsSync(data)) return;
  const pawl = await open({ data, work: false });
  const jobs = await pawl.jobs().all();
  const corpora = await pawl.corpora().all();
  await pawl.close();
  assert.deepEqual({ jobs, corpora }, { jobs: [], corpora: [] });
}

describe('pawl refuses', { concurrency: 2 }, () => {
  for (const refusal of refusals) {
    test(`${refusal.title}: ${refusal.code}`, async (t) => {
      const place = openRunner(t);
      place.write('docs/cat.md', 'The cat.');
      refusal.prepare?.(place);
      await assertRefused(place, refusal);
    });
  }

  const isRoot = process.getuid?.() === 0;
  const skip = isRoot && 'the superuser can read every folder';
  test('an unreadable folder: source_unreadable', { skip }, async (t) => {
    const place = openRunner(t);
    place.write('docs/closed/cat.md', 'The cat.');
    chmodSync(join(place.folder, 'docs/closed'), 0o000);
    t.after(() => chmodSync(join(place.folder, 'docs/closed'), 0o700));
    const args = ['ingest', 'docs', ...corpus];
    await assertRefused(place, { title: '', args, code: 'source_unreadable', exit: 1 });
  });

  test('read commands without a store, and creates none', async (t) => {
    const place = openRunner(t);
    const { code, stderr } = await place.run(['search', 'notes', 'cat']);
    assert.equal(code, 1);
    assert.match(stderr, /there is no store in .*\nRun `pawl ingest SOURCE…`/);
    assert.equal(existsSync(join(place.folder, '.pawl')), false);
  });

  test('a search in a store whose first process died before it made the tables', async (t) => {
    const place = openRunner(t);
    place.write('.pawl/pawl.db', '');
    const { code, stderr } = await place.run(['search', 'notes', 'cat']);
    assert.equal(code, 1);
    assert.match(stderr, /there is no corpus "notes" \(corpus_unknown\)/);
  });

  test('a corpus without a query, and says how its only argument was read', async (t) => {
    const place = openRunner(t);
    place.write('.pawl/pawl.db', '');
    const PAWL_ANSWERER_URL = 'http://127.0.0.1:9/v1';
    const environment = { PAWL_ANSWERER: 'openai:some', PAWL_ANSWERER_URL };
    for (const command of ['search', 'ask']) {
      const { code, stderr } = await place.run([command, 'notes'], { environment });
      assert.equal(code, 1);
      assert.match(stderr, /\nThe only argument is the query, for the corpus default\. Write /);
      assert.ok(stderr.includes(`\`pawl ${command} CORPUS`), stderr);
    }
    const { stderr } = await place.run(['search', 'notes', 'cat']);
    assert.match(stderr, /\n`pawl corpora` lists the corpora/);
  });

  test('a configuration file that is no JSON, and names the file to correct', async (t) => {
    const place = openRunner(t);
    for (const text of ['{bad', '[]']) {
      place.write('pawl.config.json', text);
      const { code, stderr } = await place.run(['search', 'notes', 'cat']);
      assert.equal(code, 64);
      assert.match(stderr, /\nCorrect pawl\.config\.json in this folder/);
    }
  });
});

describe('pawl --help', () => {
  test('lists --url only where it is accepted', async (t) => {
    const place = openRunner(t);
    const helpOf = async (...command: string[]) => (await place.run([...command, '--help'])).stdout;
    assert.match(await helpOf('search'), /--url URL/);
    const locals = [
      ...['serve', 'watch', 'extract', 'chunk', 'models', 'backup', 'restore', 'config'],
      ...['completion', 'doctor', 'diagram'],
    ];
    for (const local of locals) {
      assert.doesNotMatch(await helpOf(local), /--url/, local);
    }
    const [, but = ''] = /every command except (.+)\n +-u, --url/.exec(await helpOf()) ?? [];
    assert.deepEqual(but.split(', '), locals);
  });
});

describe('pawl with "log": "debug" in its configuration file', () => {
  test('prints a failure with its stack', async (t) => {
    const place = openRunner(t);
    const args = ['search', 'notes', 'cat'];
    assert.doesNotMatch((await place.run(args)).stderr, /\n +at /);
    place.write('pawl.config.json', '{ "log": "debug" }');
    assert.match((await place.run(args)).stderr, /there is no store.*\n +at /s);
  });
});

describe('pawl warns', () => {
  test('about an unknown variable, and names the closest', async (t) => {
    const place = openRunner(t);
    place.write('docs/cat.md', 'The cat.');
    const environment = { PAWL_WORKER: '3' };
    const { code, stderr } = await place.run(['ingest', 'docs', ...corpus], { environment });
    assert.equal(code, 0);
    assert.match(stderr, /PAWL_WORKER is not a setting, .* closest one is PAWL_WORKERS/);
  });
});
