/** The completion scripts, in the shells that they are for. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { open } from '../../src/index.ts';
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

/** A service may have corpora with any name: no shell may run one. */
const hostile = ['a$(touch ran)', 'a`touch ran`', 'a;touch ran', 'a b', '*'];
/** Stands in for the program: it answers only what the scripts ask. */
const printNames = `printf '%s\\n' ${['notes', ...hostile].map((name) => `'${name}'`).join(' ')}`;

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
  ['pawl search no', ['notes']],
  ['pawl ask no', ['notes']],
  ['pawl corpora show no', ['notes']],
  ['pawl ingest --corpus no', ['notes']],
  ['pawl jobs list -c no', ['notes']],
];

describe('pawl completion', { concurrency: 2 }, () => {
  test('bash', { skip: skipWithout('bash') }, async (t) => {
    const { shellRun } = await setup(t, 'bash');
    const complete = [
      `pawl() { ${printNames}; }`,
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

  test('bash leaves names of files as they are', { skip: skipWithout('bash') }, async (t) => {
    const { place, shellRun } = await setup(t, 'bash');
    const names = ['a$(touch ran).md', 'a`touch ran`.md', 'a*', 'a;touch ran', 'a b', '-rf'];
    for (const name of names) place.write(name, '');
    const out = await shellRun(
      [
        'source ./script',
        'COMP_WORDS=(pawl ingest a); COMP_CWORD=2; _pawl',
        'printf "%s\\n" "${COMPREPLY[@]}"',
      ].join('\n'),
    );
    const expected = names.filter((name) => name.startsWith('a'));
    assert.deepEqual(out.trim().split('\n').sort(), expected.sort());
    assert.ok(!existsSync(join(place.folder, 'ran')));
  });

  test('names of corpora are never run', { skip: skipWithout('bash') }, async (t) => {
    const { place, shellRun } = await setup(t, 'bash');
    const out = await shellRun(
      [
        `pawl() { echo "$*" >> asked; ${printNames}; }`,
        'source ./script',
        'COMP_WORDS=(pawl --data "my store" search a); COMP_CWORD=4; _pawl',
        'printf "%s\\n" "${COMPREPLY[@]}"',
      ].join('\n'),
    );
    const expected = hostile.filter((name) => name.startsWith('a'));
    assert.deepEqual(out.trim().split('\n').sort(), expected.toSorted());
    assert.ok(!existsSync(join(place.folder, 'ran')));
    const asked = readFileSync(join(place.folder, 'asked'), 'utf8');
    assert.equal(asked, 'completion corpora --data my store\n');
  });

  test('prints the names of the corpora in the store, one on each line', async (t) => {
    const place = openRunner(t);
    const missing = await place.run(['completion', 'corpora']);
    assert.deepEqual([missing.code, missing.stdout], [1, '']);
    await using pawl = await open({ data: join(place.folder, '.pawl') });
    for (const corpus of ['notes', 'wiki']) {
      await (await pawl.ingest([{ id: 'a', text: 'The sea.' }], { corpus })).wait();
    }
    assert.equal((await place.run(['completion', 'corpora'])).stdout, 'notes\nwiki\n');
  });

  test('fish', { skip: skipWithout('fish') }, async (t) => {
    const { shellRun } = await setup(t, 'fish');
    const calls = cases.map(([line]) => `complete -C '${line}'; echo ---`);
    const stand = `function pawl; ${printNames}; end`;
    const out = await shellRun([stand, 'source ./script', ...calls].join('\n'));
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
    const { place, shellRun } = await setup(t, 'zsh');
    // It answers the script, and prints the arguments of a line that is run.
    const asked = '[[ "$1 $2" == "completion corpora" ]]';
    place.write(
      'stand-in',
      `pawl() { if ${asked}; then ${printNames}; else print "GOT"":$*:END"; fi }`,
    );
    // Only a terminal completes: the words are typed there, and a function prints the result.
    const single = cases.filter(([, each]) => each.length === 1);
    // The dollar sign is typed with a backslash, as the shell needs it.
    const typed = [...single.map(([line]) => line), 'pawl search a\\\\$'];
    const program = [
      'zmodload zsh/zpty',
      'zpty z "zsh -i"',
      'wait_for() {',
      '  local part; out=',
      '  while [[ $out != ${~1} ]]; do zpty -r z part || return; out+=$part; done',
      '}',
      "zpty -w z 'PS1=; autoload -Uz compinit; compinit -u -D; source ./script; bindkey -e'",
      `zpty -w z 'source ./stand-in; bindkey "^I" complete-word; print REA""DY'`,
      "wait_for '*READY*'",
      `for line in ${typed.map((line) => `$'${line}\\t'`).join(' ')}; do`,
      `  zpty -w z "$line"; wait_for '*GOT:*:END*'`,
      '  print -r -- "${${out##*GOT:}%%:END*}"',
      'done',
      'zpty -d z',
    ];
    const out = await shellRun(program.join('\n'));
    const expected = single.map(([line, [word]]) =>
      line.replace(/^pawl /, '').replace(/\S+$/, word ?? ''),
    );
    expected.push('search a$(touch ran)');
    // zsh completes a flag with a value up to its =.
    const found = out
      .trim()
      .split('\n')
      .map((line) => line.replace(/=$/, '').trim());
    assert.deepEqual(found, expected);
    assert.ok(!existsSync(join(place.folder, 'ran')));
  });

  test('refuses other shells', async (t) => {
    const { code, stderr } = await openRunner(t).run(['completion', 'tcsh']);
    assert.equal(code, 64);
    assert.match(stderr, /no completion for tcsh .*\nUse `pawl completion bash\|zsh\|fish`\./);
  });
});
