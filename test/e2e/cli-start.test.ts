/** Commands load what they need, and no more: that is what makes them start fast. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { pawlSource } from '../support/pawl-program.ts';
import { type CommandRunner, openRunner } from './pawl-process.ts';

/** Writes the address of every module that a process loads to a file, one on each line. */
const recorder = `
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    appendFileSync('loaded.txt', url + '\\n');
    return next(url, context);
  },
});
`;

async function loadedBy(place: CommandRunner, args: readonly string[]): Promise<string[]> {
  const hook = pathToFileURL(place.write('recorder.mjs', recorder)).href;
  writeFileSync(join(place.folder, 'loaded.txt'), '');
  const environment = { NODE_OPTIONS: `--import=${hook}` };
  const { code, stderr } = await place.run(args, { environment });
  assert.equal(code, 0, stderr);
  return readFileSync(join(place.folder, 'loaded.txt'), 'utf8').trim().split('\n');
}

const isEngine = (url: string): boolean => /\/src\/(?:engine\/item|pipeline\/extract\/f)/.test(url);
const isHeavy = (url: string): boolean =>
  /\/node_modules\/(?:typebox|undici|fastify|@modelcontextprotocol)\//.test(url);

describe('pawl starts without what it does not use', () => {
  test('the version loads no command, no engine and no package', async (t) => {
    const loaded = await loadedBy(openRunner(t, pawlSource), ['--version']);
    const rest = loaded.filter((url) => /\/cli\/command\/|\/node_modules\//.test(url));
    assert.ok(loaded.length > 5, 'modules are recorded');
    assert.deepEqual([...rest, ...loaded.filter(isEngine)], []);
  });

  test('a search of a local store loads neither the engine nor heavy packages', async (t) => {
    const place = openRunner(t, pawlSource);
    place.write('docs/cat.md', 'The cat sleeps on the harmonium.');
    await place.run(['ingest', 'docs', '-c', 'notes', '-q']);
    const loaded = await loadedBy(place, ['search', 'notes', 'harmonium']);
    assert.ok(loaded.some((url) => url.endsWith('/search/search.ts')));
    assert.deepEqual(
      loaded.filter((url) => isEngine(url) || isHeavy(url)),
      [],
    );
  });

  test('a list of jobs loads no HTTP client, and nothing that only a service needs', async (t) => {
    const place = openRunner(t, pawlSource);
    place.write('docs/cat.md', 'The cat sleeps on the harmonium.');
    await place.run(['ingest', 'docs', '-c', 'notes', '-q']);
    const loaded = await loadedBy(place, ['jobs']);
    const isUnused = /\/node_modules\/(?:undici|fastify|typebox\/build\/(?:type|value|compile))\//;
    assert.ok(loaded.some((url) => url.endsWith('/contract/contract.ts')));
    assert.deepEqual(
      loaded.filter((url) => isUnused.test(url)),
      [],
    );
  });

  test('a search gives the same results with and without the engine', async (t) => {
    const place = openRunner(t, pawlSource);
    place.write('docs/cat.md', '# The cat\n\nThe cat sleeps on the harmonium.');
    place.write('docs/dog.md', '# The dog\n\nThe dog guards the harmonium of the cat.');
    await place.run(['ingest', 'docs', '-c', 'notes', '-q']);
    const args = ['search', 'notes', 'cat harmonium', '--explain', '--title', 'the', '--json'];
    const plain = await place.run(args);
    // The address of another embedder makes the command open the whole store.
    const environment = { PAWL_EMBEDDER_URL: 'http://127.0.0.1:9/v1' };
    const whole = await place.run(args, { environment });
    const resultsOf = ({ stdout }: { stdout: string }) => JSON.parse(stdout).results;
    assert.equal(resultsOf(plain).length, 2);
    assert.deepEqual(resultsOf(plain), resultsOf(whole));
  });
});
