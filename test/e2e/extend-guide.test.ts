/** The program of docs/guide/extend.md runs as it is printed there. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/temporary.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the program that adds a step prints the summary', async (t) => {
  const page = readFileSync(join(root, 'docs/guide/extend.md'), 'utf8');
  const [, program] = /^```ts\n(import \{ open \}.*?)^```$/ms.exec(page) ?? [];
  assert.ok(program, 'the page has the program');
  const folder = temporaryDirectory(t);
  const file = join(folder, 'summaries.ts');
  const alias = new URL('../support/pawl-alias.ts', import.meta.url).href;
  writeFileSync(file, program);
  const env = { ...process.env, PAWL_DATA: join(folder, 'data') };
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', alias, file], {
    cwd: folder,
    env,
  });
  assert.equal(stdout, "[ 'The cat is back.' ]\n");
});
