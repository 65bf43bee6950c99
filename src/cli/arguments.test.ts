import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readArguments, splitCommand } from './arguments.ts';
import { type Command, globalOptions, type Option } from './command.ts';
import { commands, loadAll } from './commands.ts';

const all = await loadAll();
const search = all.find(({ name }) => name === 'search') as Command;
const optionsOfAll = async () => Object.assign({}, ...all.map(({ options }) => options));

async function parsed(line: string) {
  const { name, rest } = await splitCommand(line.split(' '), optionsOfAll);
  assert.equal(name, 'search', line);
  return readArguments(search, rest);
}

describe('the arguments of pawl', () => {
  const same = [
    'search docs tide --json --top-k 3 --data x',
    '--json --data x search docs tide --top-k 3',
    '--top-k 3 --json --data=x search docs tide',
    '-k 3 -j -d x search docs tide',
    'search -jk3 docs -d x tide',
    'search docs --top-k=3 -jd x tide',
  ];
  for (const line of same) {
    test(`are the same wherever flags stand: ${line}`, async () => {
      const { flags, positionals } = await parsed(line);
      assert.deepEqual(flags, { json: true, 'top-k': '3', data: 'x' });
      assert.deepEqual(positionals, ['docs', 'tide']);
    });
  }

  test('end at --, and later words are no flags', async () => {
    const { positionals } = await parsed('search docs -- --json');
    assert.deepEqual(positionals, ['docs', '--json']);
  });

  const refused: readonly [line: string, message: RegExp, advice: RegExp][] = [
    ['search docs x --topk 3', /no --topk; did you mean --top-k\?/, /pawl search --help/],
    ['search docs x --explian', /did you mean --explain\?/, /pawl search --help/],
    ['search docs x --zebra', /has no --zebra$/, /pawl search --help/],
    ['search docs x -z', /has no -z$/, /pawl search --help/],
    ['search docs x --mode fuzzy', /--mode cannot be fuzzy/, /hybrid, vector or keyword/],
    ['search docs x -m keywords', /did you mean keyword\?/, /Use -m hybrid/],
    ['search docs x --top-k', /--top-k needs a value/, /Write --top-k N\./],
    ['search docs x --top-k --json', /--json looks like a flag/, /--top-k=--json/],
    ['search docs x --json=yes', /--json takes no value/, /Write --json alone/],
  ];
  for (const [line, message, advice] of refused) {
    test(`are refused with advice: ${line}`, async () => {
      await assert.rejects(parsed(line), (error: { code: string; context: { advice: string } }) => {
        assert.equal(error.code, 'usage_error');
        assert.match(String(error), message);
        assert.match(error.context.advice, advice);
        return true;
      });
    });
  }
});

describe('the table of commands', () => {
  test('has each command under its own name', () => {
    assert.deepEqual(
      all.map(({ name }) => name),
      commands.map(({ name }) => name),
    );
  });

  test('gives a flag and a letter the same form in every command', () => {
    const forms = new Map<string, string>();
    const letters = new Map<string, string>();
    const check = (where: string, name: string, { type, short }: Option): void => {
      const form = `${type} ${short ?? ''}`;
      assert.equal(forms.get(name) ?? form, form, `--${name} of ${where}`);
      forms.set(name, form);
      if (short === undefined) return;
      assert.equal(letters.get(short) ?? name, name, `-${short} of ${where}`);
      letters.set(short, name);
    };
    for (const [name, option] of Object.entries(globalOptions)) check('all', name, option);
    for (const command of all) {
      for (const [name, option] of Object.entries(command.options ?? {})) {
        assert.ok(!Object.hasOwn(globalOptions, name), `${command.name} redefines --${name}`);
        check(command.name, name, option);
      }
    }
  });
});
