/** `pawl` as people expect it: help, version, quiet, errors with a useful second line. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { open } from '../../src/index.ts';
import { type CommandRunner, openRunner } from './pawl-process.ts';

describe('pawl answers', { concurrency: 2 }, () => {
  test('its version, by every usual name', async (t) => {
    const place = openRunner(t);
    for (const args of [['-v'], ['-V'], ['--version'], ['version'], ['search', '--version']]) {
      const { code, stdout } = await place.run(args);
      assert.equal(code, 0, args.join(' '));
      assert.match(stdout, /^\d+\.\d+\.\d+\n$/, args.join(' '));
    }
  });

  test('help for a command, by every usual name', async (t) => {
    const place = openRunner(t);
    const { stdout: expected } = await place.run(['search', '--help']);
    assert.match(expected, /^pawl search: .*\n\nUsage\n/);
    for (const args of [
      ['search', '-h'],
      ['help', 'search'],
      ['-h', 'search'],
    ]) {
      const { code, stdout } = await place.run(args);
      assert.deepEqual([code, stdout], [0, expected], args.join(' '));
    }
    const { stdout: general } = await place.run([]);
    for (const args of [['-h'], ['--help'], ['help'], ['help', 'help']]) {
      assert.equal((await place.run(args)).stdout, general, args.join(' '));
    }
    const { code, stderr } = await place.run(['help', 'serch']);
    assert.equal(code, 64);
    assert.match(stderr, /did you mean search\?/);
  });

  test('with --quiet only results and errors', async (t) => {
    const place = openRunner(t);
    place.write('docs/cat.md', 'The cat sleeps on the harmonium.');
    const ingested = await place.run(['-q', 'ingest', 'docs', '-c', 'notes']);
    assert.deepEqual([ingested.code, ingested.stdout, ingested.stderr], [0, '', '']);
    const found = await place.run(['search', 'notes', 'harmonium', '--quiet']);
    assert.match(found.stdout, /The cat sleeps/);
    const missing = await place.run(['search', 'other', 'harmonium', '--quiet']);
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /corpus_unknown/);
  });
});

describe('pawl jobs', () => {
  test('says that no process works on an unfinished job, and how to continue it', async (t) => {
    const place = openRunner(t);
    place.write('docs/cat.md', 'The cat.');
    const data = join(place.folder, '.pawl');
    const pawl = await open({ data, work: false });
    const path = join(place.folder, 'docs/cat.md');
    const job = await pawl.ingest([path], { corpus: 'notes' });
    await pawl.close();
    const short = job.id.slice(0, 8);
    const hint = new RegExp(`no process works on this store: \`pawl jobs watch ${short}\``);
    const listed = await place.run(['jobs']);
    assert.match(listed.stdout, /queued \(no worker\)/);
    assert.match(listed.stderr, hint);
    assert.match((await place.run(['jobs', 'show', short])).stdout.replace(/\s+/g, ' '), hint);
    assert.equal((await place.run(['jobs', 'watch', short])).code, 0);
    const after = await place.run(['jobs']);
    assert.match(after.stdout, /succeeded/);
    assert.equal(after.stderr, '');
  });
});

interface Trouble {
  readonly title: string;
  readonly args: readonly string[];
  readonly prepare?: (place: CommandRunner) => void | Promise<void>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly exit: number;
  readonly code: string;
  readonly advice: RegExp;
}

const ingest = ['ingest', 'docs', '--corpus', 'notes'];

const troubles: readonly Trouble[] = [
  {
    title: 'no store',
    args: ['search', 'notes', 'cat'],
    exit: 1,
    code: 'bad_request',
    advice: /`pawl ingest SOURCE…` .* --data/,
  },
  {
    title: 'an invalid variable',
    args: ingest,
    environment: { PAWL_WORKERS: 'many' },
    exit: 64,
    code: 'usage_error',
    advice: /pawl config show/,
  },
  {
    title: '--data that is a file',
    args: [...ingest, '--data', 'docs/cat.md'],
    exit: 1,
    code: 'store_read_only',
    advice: /folder that this user may write to with --data/,
  },
  {
    title: '--data below a file',
    args: [...ingest, '--data', '/dev/null/x'],
    exit: 1,
    code: 'store_read_only',
    advice: /--data/,
  },
  {
    title: '--data where no folder can be created',
    args: [...ingest, '--data', '/proc/nope/deeper'],
    exit: 1,
    code: 'store_read_only',
    advice: /--data/,
  },
  {
    title: 'a database file of garbage',
    args: ['search', 'notes', 'cat'],
    prepare: (place) => writeFileSync(place.write('.pawl/pawl.db', ''), 'garbage '.repeat(2000)),
    exit: 1,
    code: 'store_damaged',
    advice: /pawl doctor/,
  },
  {
    title: 'a service that does not run',
    args: ['search', 'notes', 'cat', '--url', 'http://127.0.0.1:9'],
    exit: 1,
    code: 'network_error',
    advice: /pawl serve/,
  },
  {
    title: 'an unknown mode',
    args: ['search', 'notes', 'cat', '--mode', 'fuzzy'],
    exit: 64,
    code: 'usage_error',
    advice: /Use --mode hybrid, vector or keyword\./,
  },
  {
    title: 'an unknown command',
    args: ['serch', 'notes', 'cat'],
    exit: 64,
    code: 'usage_error',
    advice: /pawl --help/,
  },
  {
    title: 'an invalid corpus name',
    args: ['ingest', 'docs', '--corpus', 'My Notes'],
    exit: 64,
    code: 'corpus_name_invalid',
    advice: /a-z, 0-9/,
  },
];

interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly advice: string;
}

describe('an error of pawl has a useful second line, and is a problem with --json:', () => {
  for (const { title, args, prepare, environment, exit, code, advice } of troubles) {
    test(title, async (t) => {
      const place = openRunner(t);
      place.write('docs/cat.md', 'The cat.');
      await prepare?.(place);
      const options = environment ? { environment } : {};
      const said = await place.run(args, options);
      const [line = '', second = '', ...others] = said.stderr.trim().split('\n');
      assert.deepEqual([said.code, said.stdout, others], [exit, '', []], said.stderr);
      assert.match(line, new RegExp(`^pawl: .+ \\(${code}\\)$`));
      assert.match(second, advice);
      const json = await place.run([...args, '--json'], options);
      const problem = JSON.parse(json.stderr) as Problem;
      assert.deepEqual([json.code, json.stdout], [exit, '']);
      assert.deepEqual([problem.code, problem.advice], [code, second]);
      assert.equal(`pawl: ${problem.detail} (${code})`, line);
      assert.deepEqual(Object.keys(problem), [
        ...['type', 'title', 'status', 'detail', 'code', 'advice'],
      ]);
    });
  }

  test('a port in use', async (t) => {
    const place = openRunner(t);
    const server = createServer().listen(0, '127.0.0.1');
    t.after(() => server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const args = ['serve', '--no-sample', '--port', String(port)];
    const { code, stderr } = await place.run(args);
    assert.equal(code, 64, stderr);
    const [line = '', second = ''] = stderr.trim().split('\n');
    assert.match(
      line,
      new RegExp(`cannot listen on 127\\.0\\.0\\.1:${port} \\(something else listens there\\)`),
    );
    assert.match(second, /--port/);
  });
});
