/** The program that users start, before it becomes Pawl. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../bin/pawl', import.meta.url));
const nodeFlags: readonly string[] = JSON.parse(
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

/** Whenever Node starts, it tells as whom and how. */
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

describe('the program pawl', () => {
  for (const command of ['serve', 'ingest']) {
    test(`${command} runs with a bounded heap, as the process that was started`, {
      skip: absent,
    }, () => {
      const { starts, ended } = run([command, '--help']);
      assert.deepEqual(
        starts.map(({ flags }) => flags),
        [[], nodeFlags],
      );
      assert.equal(starts[0]?.pid, starts[1]?.pid);
      assert.match(ended.stdout, new RegExp(`pawl ${command}`));
      assert.equal(ended.status, 0);
    });
  }

  test('what a command says of wrong arguments arrives, with its exit code', () => {
    const { ended } = run(['ingest', '--no-such-flag', 'two words']);
    assert.match(ended.stderr, /no-such-flag/);
    assert.equal(ended.status, 64);
  });

  test('a bound that was set by hand is kept', { skip: absent }, () => {
    const { starts } = run(['serve', '--help'], {
      nodeOptions: '--max-semi-space-size=8',
    });
    const [, ...others] = nodeFlags;
    assert.deepEqual(starts.at(-1)?.flags, others);
  });

  test('Windows, which cannot do that, runs the command as it is', () => {
    const { starts, ended } = run(['serve', '--help'], { platform: 'win32' });
    assert.equal(starts.length, 1);
    assert.match(ended.stdout, /pawl serve/);
    assert.equal(ended.status, 0);
  });

  test('commands that end soon start once', () => {
    const { starts, ended } = run(['--version']);
    assert.equal(starts.length, 1);
    assert.equal(ended.status, 0);
  });
});
