/** Every program in `examples/` runs as it is, and is short. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';
import { startCompletionServer, withContent } from '../support/completion-server.ts';
import { longText } from '../support/long-text.ts';
import { startPostgres } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { pagesOf, serveWeb } from '../support/web-server.ts';
import { openBench } from './api-client.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'examples');
const alias = new URL('../support/pawl-alias.ts', import.meta.url).href;
const linesMax = 15;

interface Run {
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a program in a folder of its own, and returns what it printed. */
async function run(t: TestContext, name: string, { args = [], env = {} }: Run = {}) {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', alias, join(folder, name), ...args],
    { cwd: temporaryDirectory(t), env: { ...process.env, ...env } },
  );
  return stdout.trim();
}

/** The scripts of `page.html`, as a bundler makes them for the browser. */
async function buildPage(t: TestContext): Promise<string> {
  const outDir = temporaryDirectory(t);
  await build({
    root: folder,
    configFile: false,
    logLevel: 'error',
    resolve: { alias: { 'pawl/client': join(root, 'src/client/http.ts') } },
    build: { outDir, emptyOutDir: true, rollupOptions: { input: join(folder, 'page.html') } },
  });
  const scripts = globSync('assets/*.js', { cwd: outDir });
  assert.ok(scripts.length > 0);
  return scripts.map((path) => readFileSync(join(outDir, path), 'utf8')).join('\n');
}

const printed: Readonly<Record<string, RegExp>> = {
  'ingest-and-search.ts': /^Tides: .*The moon moves the sea/s,
  'stream-and-cancel.ts': /^one page is done: enough\ncanceled$/,
  'own-embedder.ts': /^listen to the sea$/,
  'own-entity-extractor.ts': /^OPS-7 2\nOPS-9 1$/,
  'own-reranker.ts': /^0\.33\d+ The tide and the tide tables\n0\.25 The tide is high$/,
  'own-sink.ts': /^\[ 'inline:sea' \]$/,
  'own-step.ts': /^\{ 'inline:letter': 'The cat is back\.' \}$/,
};

/** Programs that need something to talk to. */
const served: Readonly<Record<string, (t: TestContext, name: string) => Promise<void>>> = {
  'folder.ts': async (t, name) => {
    const out = await run(t, name, { args: [join(root, 'samples'), 'refund'] });
    assert.match(out, /^\d+ documents, 0 failed\nReturns and refunds/);
  },
  // `batch-conformance.test.ts` and `add-a-batch-provider.test.ts` run its provider.
  'own-batch-provider.ts': async (t, name) => assert.equal(await run(t, name), ''),
  'own-blob-store.ts': async (t, name) => {
    const text = longText(3000, (mark) => `<p>The moon moves the sea, twice a day: ${mark}.</p>`);
    const { origin, host } = await serveWeb(t, pagesOf({ '/': text }));
    const out = await run(t, name, { args: [`${origin}/`, host] });
    assert.equal(out, `${text.length} bytes`);
  },
  // `sync-own.test.ts` runs its kind.
  'own-source.ts': async (t, name) => assert.equal(await run(t, name), ''),
  'page.ts': async (t, name) => {
    const { service, submit, ended } = await openBench(t);
    const documents = [{ id: 'tides', text: '# Tides <1>\n\nThe moon moves the sea.' }];
    await ended(await submit({ corpus_name: 'notes', documents }));
    const page = await buildPage(t);
    assert.doesNotMatch(page, /["']node:/);
    const program = `import { searchPage } from ${JSON.stringify(join(folder, name))};
      console.log(await searchPage(${JSON.stringify(service.address)}, 'notes', 'moon'));`;
    const args = ['--import', alias, '--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    assert.match(stdout, /^<li>.*Tides &lt;1&gt;.*The moon moves the sea/s);
  },
  'postgres.ts': async (t, name) => {
    const server = await startPostgres({ durable: false });
    t.after(() => server.stop());
    const env = { DATABASE_URL: server.url };
    assert.equal(await run(t, name, { env }), 'succeeded\nTides');
  },
  'rag-answer.ts': async (t, name) => {
    const server = await startCompletionServer(withContent('Five days [1].'));
    t.after(() => server.close());
    const env = { CHAT_URL: server.url, CHAT_KEY: 'a-key', CHAT_MODEL: 'small' };
    const args = [join(root, 'samples'), 'How long do refunds take?'];
    assert.equal(await run(t, name, { args, env }), 'Five days [1].');
    const [call] = server.calls;
    assert.equal(call?.authorization, 'Bearer a-key');
    assert.match(call?.body.messages[0]?.content ?? '', /\[1\] .*refund/is);
  },
  'site.ts': async (t, name) => {
    const page = (title: string, body: string) =>
      `<html><title>${title}</title><body><main><h1>${title}</h1>${body}</main></body>`;
    const text = `<p>${'How to install the pump, in plain words. '.repeat(12)}</p>`;
    const start = `<p>${'Welcome to the pump. '.repeat(20)}</p><a href="/install">Install</a>`;
    const pages = { '/': page('Start', start), '/install': page('Install', text) };
    const { origin, host } = await serveWeb(t, pagesOf(pages));
    const out = await run(t, name, { args: [`${origin}/`, 'install', host] });
    assert.match(out, /^2 pages\n.*Install/s);
  },
};

describe('the examples', () => {
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.ts'))) {
    test(`${name} does what it says, in at most ${linesMax} lines`, async (t) => {
      const lines = readFileSync(join(folder, name), 'utf8').split('\n');
      const code = lines.filter(
        (line) => line.trim() !== '' && !/^\s*(?:\/\*\*|\/\/|\*)/.test(line),
      );
      assert.ok(code.length <= linesMax, `${code.length} lines`);
      const expected = printed[name];
      if (expected) assert.match(await run(t, name), expected);
      else await (served[name] ?? assert.fail(`${name} has no expectation`))(t, name);
    });
  }
});
