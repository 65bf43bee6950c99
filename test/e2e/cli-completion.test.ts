/** The completion scripts, in the shells that they are for. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { patience } from '../support/patience.ts';
import { openRunner } from './pawl-process.ts';

const run = promisify(execFile);

function skipWithout(shell: string): string | false {
  const isHere = spawnSync(shell, ['-c', 'exit 0']).status === 0;
  return isHere ? false : `${shell} is not installed here`;
}

/** A folder with the script of a shell, a file with a space in its name, and a program to run. */
async function setup(t: TestContext, shell: 'bash' | 'zsh' | 'fish') {
  const place = openRunner(t);
  const { code, stdout, stderr } = await place.run(['completion', shell]);
  assert.deepEqual([code, stderr], [0, '']);
  place.write('script', stdout);
  place.write('two words.md', '');
  const shellRun = async (program: string): Promise<string> => {
    place.write('program', program);
    const options = { cwd: place.folder, timeout: patience.testMs };
    return (await run(shell, ['program'], options)).stdout;
  };
  return { place, shellRun };
}

/** Each line, and the completions of its last word. */
const cases: readonly [line: string, expected: readonly string[]][] = [
  ['pawl sea', ['search']],
  ['pawl --data x sea', ['search']],
  ['pawl search --mod', ['--mode']],
  ['pawl search -q notes --mod', ['--mode']],
  ['pawl search --mode ', ['hybrid', 'vector', 'keyword']],
  ['pawl search -m k', ['keyword']],
  ['pawl jobs re', ['resume', 'retry']],
  ['pawl jobs --state que', ['queued']],
  ['pawl help inb', ['inbox']],
  ['pawl completion z', ['zsh']],
];

describe('pawl completion', { concurrency: 2 }, () => {
  test('bash', { skip: skipWithout('bash') }, async (t) => {
    const { shellRun } = await setup(t, 'bash');
    const complete = [
      'source ./script',
      'comp() {',
      '  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pawl',
      '  printf "%s|" "${COMPREPLY[@]}"; echo',
      '}',
    ];
    const words = (line: string) => line.split(' ').map((word) => `'${word}'`);
    const calls = cases.map(([line]) => `comp ${words(line).join(' ')}`);
    // bash gives --mode=k as three words, and names of files must stay whole.
    const more = ['comp pawl search --mode = k', 'comp pawl ingest tw'];
    const out = await shellRun([...complete, ...calls, ...more].join('\n'));
    const found = out
      .trim()
      .split('\n')
      .map((line) => line.split('|').filter(Boolean).sort());
    const expected = [...cases.map(([, each]) => each), ['keyword'], ['two words.md']];
    assert.deepEqual(
      found,
      expected.map((each) => each.toSorted()),
    );
  });

  test('fish', { skip: skipWithout('fish') }, async (t) => {
    const { shellRun } = await setup(t, 'fish');
    const calls = cases.map(([line]) => `complete -C '${line}'; echo ---`);
    const out = await shellRun(['source ./script', ...calls].join('\n'));
    const found = out.split('---\n').slice(0, -1);
    const words = found.map((part) =>
      part
        .trim()
        .split('\n')
        .map((line) => line.split('\t')[0])
        .sort(),
    );
    assert.deepEqual(
      words,
      cases.map(([, each]) => each.toSorted()),
    );
  });

  test('zsh', { skip: skipWithout('zsh') }, async (t) => {
    const { shellRun } = await setup(t, 'zsh');
    // Only a terminal completes: the words are typed there, and a function prints the result.
    const single = cases.filter(([, each]) => each.length === 1);
    const program = [
      'zmodload zsh/zpty',
      'zpty z "zsh -i"',
      'wait_for() {',
      '  local part; out=',
      '  while [[ $out != ${~1} ]]; do zpty -r z part || return; out+=$part; done',
      '}',
      "zpty -w z 'PS1=; autoload -Uz compinit; compinit -u -D; source ./script; bindkey -e'",
      `zpty -w z 'pawl() { print "GOT"":$*:END" }; bindkey "^I" complete-word; print REA""DY'`,
      "wait_for '*READY*'",
      `for line in ${single.map(([line]) => `$'${line}\\t'`).join(' ')}; do`,
      `  zpty -w z "$line"; wait_for '*GOT:*:END*'`,
      '  print -r -- "${${out##*GOT:}%%:END*}"',
      'done',
      'zpty -d z',
    ];
    const out = await shellRun(program.join('\n'));
    const expected = single.map(([line, [word]]) =>
      line.replace(/^pawl /, '').replace(/\S+$/, word ?? ''),
    );
    // zsh completes a flag with a value up to its =.
    const found = out
      .trim()
      .split('\n')
      .map((line) => line.replace(/=$/, '').trim());
    assert.deepEqual(found, expected);
  });

  test('refuses other shells', async (t) => {
    const { code, stderr } = await openRunner(t).run(['completion', 'tcsh']);
    assert.equal(code, 64);
    assert.match(stderr, /no completion for tcsh .*\nUse `pawl completion bash\|zsh\|fish`\./);
  });
});
