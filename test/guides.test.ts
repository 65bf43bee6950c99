/** The pages name commands, flags, settings and other pages that exist. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { settings } from '../src/app/settings/settings.ts';
import { type Command, globalOptions } from '../src/cli/command.ts';
import { builtIn } from '../src/cli/commands.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = globSync(['*.md', 'docs/*.md', 'docs/{design,guide,decisions}/*.md'], {
  cwd: root,
}).sort();
const commands = await findCommands();
const variables = new Set<string>(Object.values(settings).map(({ variable }) => variable));

/** Variables of the tests, and values that the reader fills in. */
const otherVariables = /^PAWL_(?:TEST_\w+|IMAGE)$/;

describe('the guides', () => {
  test('are read, and so are the commands', () => {
    assert.ok(pages.length >= 10 && commands.size >= 14);
  });

  for (const page of pages) {
    const text = readFileSync(join(root, page), 'utf8');

    test(`${page} names commands and flags that pawl has`, () => {
      assert.deepEqual(callsIn(text).flatMap(problemsOf), []);
    });

    test(`${page} names settings that pawl has`, () => {
      const named = [...text.matchAll(/\bPAWL_[A-Z0-9_]*[A-Z0-9]\b(?!_?…|\{)/g)].map(
        ([name]) => name,
      );
      const strange = named.filter((name) => !isVariable(name));
      assert.deepEqual([...new Set(strange)], []);
    });

    test(`${page} links to pages and headings that exist`, () => {
      for (const [, target = '', anchor] of text.matchAll(
        /\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g,
      )) {
        const path = target === '' ? page : join(dirname(page), target);
        assert.ok(existsSync(join(root, path)), `${target} does not exist`);
        if (anchor === undefined) continue;
        const there = readFileSync(join(root, path), 'utf8');
        assert.ok(anchorsOf(there).includes(anchor), `${target} has no heading #${anchor}`);
      }
    });
  }

  test('names that do not exist are found', () => {
    const said =
      'Run `pawl serch docs`, `pawl jobs stop ID`, or `pawl search docs "a b" --topk 3`.';
    assert.deepEqual(callsIn(said).flatMap(problemsOf), [
      'serch docs: there is no command serch',
      'jobs stop ID: jobs has no stop',
      'search docs X --topk 3: search takes no --topk',
    ]);
    assert.equal(isVariable('PAWL_WORKRS'), false);
  });
});

/** The text after `pawl` in code on a page. */
function callsIn(text: string): string[] {
  const spans = [...text.matchAll(/`((?:npx )?pawl [^`]+)`/g)].map(([, code = '']) => code);
  const blocks = [...text.matchAll(/^```(?:sh)?\n(.*?)^```/gms)].map(([, code = '']) => code);
  const lines = blocks.flatMap((code) => code.replaceAll('\\\n', ' ').split('\n'));
  const first = /^(?:\$ )?(?:[A-Z_]+=\S* +)*((?:npx )?pawl [a-z].*)/;
  const called = lines.flatMap((line) => first.exec(line)?.[1] ?? []);
  return [...spans, ...called]
    .map((code) => code.replace(/^(?:npx )?pawl /, '').replace(/ (?:#|>|2>|&).*$/, ''))
    .map((code) =>
      code
        .replaceAll(/"[^"]*"|'[^']*'/g, 'X')
        .replaceAll('\\|', '|')
        .trim(),
    );
}

function problemsOf(call: string): string[] {
  const [name = '', second = ''] = call.split(/\s+/);
  // `pawl mcp …`, `pawl/client`, or prose.
  if (!/^[a-z]+$/.test(name) || builtIn.includes(name)) return [];
  const command = commands.get(name);
  if (!command) return [`${call}: there is no command ${name}`];
  const actions = command.usage.flatMap((line) => actionsOf(line.split(' ')[1] ?? ''));
  const chosen = actions.length > 0 ? actionsOf(second) : [];
  const known = { ...command.options, ...globalOptions };
  const flags = [...call.matchAll(/(?<=^|[\s[|])--([a-z][a-z-]*)/g)].map(([, flag = '']) => flag);
  return [
    ...chosen.filter((word) => !actions.includes(word)).map((word) => `${name} has no ${word}`),
    ...flags.filter((flag) => !(flag in known)).map((flag) => `${name} takes no --${flag}`),
  ].map((problem) => `${call}: ${problem}`);
}

/** `pause|resume` is two actions; upper-case words are placeholders. */
function actionsOf(word: string): string[] {
  return /^[a-z]+(?:\|[a-z]+)*$/.test(word) ? word.split('|') : [];
}

function isVariable(name: string): boolean {
  return variables.has(name) || otherVariables.test(name);
}

/** Anchors as GitHub makes them. */
function anchorsOf(text: string): string[] {
  const titles = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
  return titles.map((title) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

async function findCommands(): Promise<ReadonlyMap<string, Command>> {
  const files = globSync('src/cli/**/*.ts', { cwd: root }).filter(
    (path) => !path.includes('.test.'),
  );
  const modules = await Promise.all(files.map((path) => import(join(root, path))));
  const found = modules.flatMap((module) => Object.values(module)).filter(isCommand);
  return new Map(found.map((command) => [command.name, command]));
}

function isCommand(value: unknown): value is Command {
  return typeof value === 'object' && value !== null && 'usage' in value && 'run' in value;
}
