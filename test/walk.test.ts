/** "One ingest, file by file" in ARCHITECTURE.md is what one ingest does. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { patience } from './support/patience.ts';
import { readSource } from './support/source-text.ts';
import { temporaryDirectory } from './support/temporary.ts';
import { importsOf } from './support/tidy-rules.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const filesMax = 25;

interface Stop {
  readonly path: string;
  /** Undefined for the launcher, which is not a module with functions to call. */
  readonly function: string | undefined;
}

const walk = readWalk(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'));

describe('the walk of one ingest', () => {
  test(`has at most ${filesMax} files, all different, and all of them exist`, () => {
    assert.ok(walk.length > 1 && walk.length <= filesMax, `${walk.length} files`);
    const paths = walk.map(({ path }) => path);
    assert.equal(new Set(paths).size, paths.length);
    assert.deepEqual(
      paths.filter((path) => !existsSync(join(root, path))),
      [],
    );
  });

  test('enters each file from one before it', () => {
    const unreached = walk.slice(1).filter(({ path }, index) => {
      const before = walk.slice(0, index + 1);
      return !before.some((stop) => importedBy(stop.path).has(path));
    });
    assert.deepEqual(unreached, []);
  });

  test('calls the function that is named for each file', async (t) => {
    const called = await ingestOneFile(temporaryDirectory(t));
    const uncalled = walk.filter(
      (stop) => stop.function !== undefined && !called.has(`${stop.path} ${stop.function}`),
    );
    assert.deepEqual(uncalled, []);
  });
});

test('a line of the walk is a number, a file and its function', () => {
  const page = [
    '## One ingest, file by file',
    '',
    'Words about `src/c.ts`.',
    '',
    '1. `bin/a`: starts.',
    '2. `src/b.ts` (`#run`): runs.',
    '',
    '## Next',
    '3. `src/c.ts` (`c`): is not part of it.',
  ];
  assert.deepEqual(readWalk(page.join('\n')), [
    { path: 'bin/a', function: undefined },
    { path: 'src/b.ts', function: '#run' },
  ]);
});

function readWalk(page: string): Stop[] {
  const [, section = ''] = page.split('## One ingest, file by file\n');
  const [own = ''] = section.split('\n## ');
  const lines = own.matchAll(/^\d+\. `([^`]+)`(?: \(`([^`]+)`\))?:/gm);
  return [...lines].map(([, path = '', name]) => ({ path, function: name }));
}

function importedBy(path: string): ReadonlySet<string> {
  const source = readSource(path, readFileSync(join(root, path), 'utf8'));
  const folder = dirname(join(root, path));
  return new Set(
    importsOf(source)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => relative(root, resolve(folder, specifier))),
  );
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly count: number }[];
    }[];
  }[];
}

/** Every function of src/ that ran, as `path name`. */
async function ingestOneFile(directory: string): Promise<ReadonlySet<string>> {
  const file = join(directory, 'note.md');
  const coverage = join(directory, 'coverage');
  writeFileSync(file, '# A note\n\nThe heron stands in the pond.\n');
  const main = join(root, 'src/cli/main.ts');
  const args = ['ingest', file, '--corpus', 'notes', '--data', join(directory, 'store')];
  await promisify(execFile)(process.execPath, [main, ...args], {
    cwd: directory,
    env: { PATH: process.env.PATH, NODE_V8_COVERAGE: coverage },
    timeout: patience.testMs,
  });
  const called = new Set<string>();
  for (const name of globSync('*.json', { cwd: coverage })) {
    const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8')) as Coverage;
    for (const { url, functions } of result) {
      if (!url.startsWith('file:')) continue;
      const path = relative(root, fileURLToPath(url));
      for (const { functionName, ranges } of functions) {
        if ((ranges[0]?.count ?? 0) > 0) called.add(`${path} ${functionName}`);
      }
    }
  }
  return called;
}
