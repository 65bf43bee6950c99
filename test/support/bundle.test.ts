import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { bundlePawl } from './bundle.ts';
import { bundleVariable, pawlSource } from './pawl-program.ts';

async function bundled(): Promise<string> {
  await bundlePawl();
  return process.env[bundleVariable] ?? '';
}

function run(program: string, args: readonly string[]): string {
  return execFileSync(process.execPath, [program, ...args], { encoding: 'utf8' });
}

test('the bundle is the command that the sources are', async () => {
  const program = await bundled();
  for (const args of [['--version'], ['--help'], ['help', 'ingest'], ['completion', 'bash']]) {
    assert.equal(run(program, args), run(pawlSource, args), args.join(' '));
  }
});

test('the bundle has what threads and parser processes start with', async () => {
  const folder = dirname(await bundled());
  for (const name of ['text-thread', 'parser-process', 'parse', 'lock-thread']) {
    assert.ok(existsSync(join(folder, `${name}.mjs`)), name);
  }
});

test('the sources are bundled once', async () => {
  const first = await bundled();
  assert.equal(await bundled(), first);
  assert.match(basename(dirname(first)), /^pawl-[0-9a-f]{16}$/);
});
