/** The launcher `bin/pawl`, before it hands over to Node. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isAlive } from '../support/process-state.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';

const program = fileURLToPath(new URL('../../bin/pawl', import.meta.url));
const nodeFlags: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL('../../bin/node-flags.json', import.meta.url), 'utf8'),
);
const absent = process.platform === 'win32' && 'this system cannot start a program in its place';

interface Start {
  readonly pid: number;
  readonly flags: readonly string[];
}

interface Setting {
  readonly nodeOptions?: string;
  readonly platform?: string;
}

/** A preload that prints the executable and arguments of each Node start. */
function run(args: readonly string[], { nodeOptions = '', platform }: Setting = {}) {
  const tell = '{pid:process.pid,flags:process.execArgv}';
  const pretend = platform
    ? `Object.defineProperty(process,'platform',{value:'${platform}'});`
    : '';
  const script = `${pretend}process._rawDebug('start:'+JSON.stringify(${tell}))`;
  const ended = spawnSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
    env: {
      ...process.env,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)} ${nodeOptions}`,
    },
  });
  const told = ended.stderr.split('\n').filter((line) => line.startsWith('start:'));
  const starts: Start[] = told.map((line) => JSON.parse(line.slice('start:'.length)));
  return { starts, ended };
}

/** A real older Node if the machine has one, and this one pretending to be older. */
function olderNodes() {
  const pretend = "Object.defineProperty(process,'versions',{value:{node:'20.0.0'}})";
  const flags = [`--import=data:text/javascript,${encodeURIComponent(pretend)}`];
  const pretended = { name: 'a Node that says it is older', path: process.execPath, flags };
  const real = ['/usr/bin/node', '/usr/local/bin/node', ...pathNodes()].find((path) => {
    const { stdout = '' } = spawnSync(path, ['--version'], { encoding: 'utf8' });
    return /^v(18|20|22)\./.test(stdout ?? '');
  });
  return [pretended, ...(real ? [{ name: `an older Node`, path: real, flags: [] }] : [])];
}

function pathNodes(): string[] {
  return (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
}

function childOf(pid: number | undefined): number {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return Number(stdout.trim().split('\n')[0]);
}

describe('the program pawl', () => {
  for (const command of ['serve', 'open', 'ingest', 'sync', 'watch']) {
    test(`${command} runs with a bounded heap, as the process that was started`, {
      skip: absent,
    }, () => {
      const { starts, ended } = run([command, '--help']);
      assert.deepEqual(
        starts.map(({ flags }) => flags),
        [[], nodeFlags[command]],
      );
      assert.equal(starts[0]?.pid, starts[1]?.pid);
      assert.match(ended.stdout, new RegExp(`pawl ${command}`));
      assert.equal(ended.status, 0);
    });
  }

  test('the message and the exit code of wrong arguments arrive', () => {
    const { ended } = run(['ingest', '--no-such-flag', 'two words']);
    assert.match(ended.stderr, /no-such-flag/);
    assert.equal(ended.status, 64);
  });

  test('a memory limit that was set by hand is kept', { skip: absent }, () => {
    const { starts } = run(['serve', '--help'], {
      nodeOptions: '--max-semi-space-size=8',
    });
    const [, ...others] = nodeFlags.serve ?? [];
    assert.deepEqual(starts.at(-1)?.flags, others);
  });

  test('on Windows, which cannot replace the process, the command runs as a child', () => {
    const { starts, ended } = run(['serve', '--help'], { platform: 'win32' });
    assert.equal(starts.length, 1);
    assert.match(ended.stdout, /pawl serve/);
    assert.equal(ended.status, 0);
  });

  for (const older of olderNodes()) {
    test(`a service that ${older.name} handed over ends when that is killed`, async (t) => {
      const data = temporaryDirectory(t);
      const args = ['serve', '--port', '0', '--no-sample', '--data', data];
      const parent = spawn(older.path, [...older.flags, program, ...args], {
        env: { ...process.env, NO_COLOR: '1' },
      });
      t.after(() => parent.kill('SIGKILL'));
      let said = '';
      for (const stream of [parent.stdout, parent.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          said += text;
        });
      }
      const [, address = ''] = await until(
        () => said.match(/(http:\/\/127\.0\.0\.1:\d+)/) ?? undefined,
        {
          what: 'the address of the service',
        },
      );
      const child = childOf(parent.pid);
      t.after(() => isAlive(child) && process.kill(child, 'SIGKILL'));
      assert.equal((await fetch(`${address}/healthz`)).status, 200);
      parent.kill('SIGKILL');
      await until(() => !isAlive(child), { what: 'the service to end' });
      // A clean exit: the lock and the write-ahead log are gone.
      assert.equal(existsSync(join(data, 'pawl.db-wal')), false);
    });
  }

  test('short commands start once', () => {
    const { starts, ended } = run(['--version']);
    assert.equal(starts.length, 1);
    assert.equal(ended.status, 0);
  });
});
