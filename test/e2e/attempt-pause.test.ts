/** An attempt over real files, with real parsers: pauses redo nothing, and are quick. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { thisProcess } from '../../src/engine/liveness.ts';
import {
  type ProcessParserOptions,
  processParser,
} from '../../src/pipeline/extract/process/process-parser.ts';
import { realWorld } from '../../src/world.ts';
import { type SessionSetup, setupSession } from '../support/session-fixture.ts';
import type { Cleanup } from '../support/temporary.ts';
import { until } from '../support/wait.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const filesMax = 200;

/** Pages, Markdown and code of this project, in the order of their names. */
function realFiles(): { name: string; text: string }[] {
  const kinds = ['test/**/*.html', 'src/**/*.html', 'samples/**/*', 'docs/**/*.md', 'src/**/*.ts'];
  const names = kinds.flatMap((kind) => globSync(kind, { cwd: root }).sort());
  const texts = names
    .filter((name) => /\.(?:html|md|ts|txt)$/.test(name))
    .map((name) => ({ name, text: readFileSync(`${root}/${name}`, 'utf8') }));
  const unique = new Map(texts.map((file) => [file.text, file]));
  return [...unique.values()].slice(0, filesMax);
}

async function setup(t: Cleanup, options: Omit<ProcessParserOptions, 'world' | 'owner'> = {}) {
  const parser = processParser({ owner: thisProcess(), world: realWorld(), ...options });
  const bundle = await setupSession(t, { parser: parser.parse });
  t.after(() => parser.close());
  return { ...bundle, parser };
}

/** All that was stored of the sources, without what differs from run to run: ids and times. */
async function stored({ rows }: SessionSetup): Promise<string> {
  const texts = await rows(`
    SELECT items.source, items.progress, texts.title, texts.language, texts.body,
      texts.content_hash, fetches.blob_key, fetches.media_type, fetches.bytes
    FROM items JOIN texts ON texts.generation_id = items.id
    JOIN fetches ON fetches.generation_id = items.id ORDER BY items.source`);
  const chunks = await rows(`
    SELECT items.source, chunks.key, ordinal, heading, text, start_offset, end_offset, token_count
    FROM chunks JOIN items ON items.id = chunks.generation_id ORDER BY items.source, ordinal`);
  return JSON.stringify({ texts, chunks });
}

async function stageAll({ upload }: SessionSetup): Promise<number> {
  const files = realFiles();
  for (const { name, text } of files) await upload(name, text);
  return files.length;
}

test('200 real files, paused again and again, are parsed once and stored the same', async (t) => {
  const straight = await setup(t);
  assert.equal(await stageAll(straight), filesMax);
  await straight.session.start('me', 'files');
  await straight.session.settled();
  assert.equal(straight.session.look('me').status, 'complete');

  const paused = await setup(t);
  const { session } = paused;
  await stageAll(paused);
  let pauses = 0;
  // Each pause comes after another so many sources, in whatever phase that may be.
  let left = 25;
  session.listen((news) => {
    if (news.kind !== 'source' || session.look('me').status !== 'running') return;
    left -= 1;
    if (left > 0) return;
    left = 25;
    pauses += 1;
    session.stop('me');
  });
  await session.start('me', 'files');
  await session.settled();
  while (session.look('me').status === 'paused') {
    session.resume('me');
    await session.settled();
  }
  assert.equal(session.look('me').status, 'complete');
  t.diagnostic(`${pauses} pauses over ${paused.parsed.length} parsed files`);
  assert.ok(pauses >= 10);
  assert.equal(new Set(paused.parsed).size, paused.parsed.length, 'none was parsed twice');
  assert.deepEqual([...paused.parsed].sort(), [...straight.parsed].sort());
  assert.equal((await stored(paused)) === (await stored(straight)), true);
});

/** How long it takes from the request to the pause, and to its answer. */
async function measureStop({ session, told }: SessionSetup) {
  const startedAt = performance.now();
  const paused = told({ status: 'paused' });
  const { status } = session.stop('me');
  const answeredMs = performance.now() - startedAt;
  assert.equal(status, 'stopping');
  await paused;
  return { answeredMs, pausedMs: performance.now() - startedAt };
}

const boundMs = 1000;

/** Resolves when the one parser process has computed for a while since its first document. */
async function busy(bundle: SessionSetup, pids: () => readonly number[]): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = bundle.session.listen((news) => {
      if (news.kind !== 'source' || news.view.status !== 'parsed') return;
      stop();
      resolve();
    });
  });
  const ticks = () => Number(readFileSync(`/proc/${pids()[0]}/stat`, 'utf8').split(' ')[13]);
  const before = ticks();
  await until(() => ticks() > before + 15, { what: 'a busy parser', timeoutMs: 60_000 });
}

test('a stop is answered at once and pauses within a second while a parser hangs', async (t) => {
  const module = import.meta.resolve('../../src/pipeline/extract/process/fixture/wild-parser.ts');
  const bundle = await setup(t, { module, size: 1 });
  await bundle.upload('say.html', 'say something');
  await bundle.upload('spin.html', 'spin');
  await bundle.session.start('me', 'files');
  await busy(bundle, bundle.parser.pids);
  const { answeredMs, pausedMs } = await measureStop(bundle);
  t.diagnostic(`answered in ${answeredMs.toFixed(1)} ms, paused in ${pausedMs.toFixed(0)} ms`);
  assert.ok(answeredMs < 50 && pausedMs < boundMs, `${answeredMs} ms, ${pausedMs} ms`);
});

test('a stop pauses within a second while a large file is parsed', async (t) => {
  const bundle = await setup(t, { size: 1 });
  const paragraph = '<p>The heron waits in the reeds until the water is quiet again.</p>\n';
  await bundle.upload('small.html', `<html><body>${paragraph.repeat(5)}</body></html>`);
  await bundle.upload('large.html', `<html><body>${paragraph.repeat(200_000)}</body></html>`);
  await bundle.session.start('me', 'files');
  await busy(bundle, bundle.parser.pids);
  const { pausedMs } = await measureStop(bundle);
  t.diagnostic(`paused in ${pausedMs.toFixed(0)} ms`);
  assert.ok(pausedMs < boundMs, `${pausedMs} ms`);
  assert.deepEqual(bundle.parsed, ['small.html']);
  assert.equal(bundle.session.look('me').phase, 'parsing');
});

test('a stop pauses within a second while a parser starts', async (t) => {
  const bundle = await setup(t);
  await bundle.upload('page.html', '<html><body><p>The heron waits.</p></body></html>');
  await bundle.session.start('me', 'files');
  await until(() => bundle.parser.pids().length > 0, { what: 'a parser that starts' });
  const { pausedMs } = await measureStop(bundle);
  t.diagnostic(`paused in ${pausedMs.toFixed(0)} ms`);
  assert.ok(pausedMs < boundMs, `${pausedMs} ms`);
});

test('a stop pauses within a second while a long text is split', async (t) => {
  const bundle = await setup(t);
  await bundle.upload(
    'long.txt',
    'The heron waits in the reeds until it is quiet.\n\n'.repeat(90_000),
  );
  const splitting = bundle.told({ phase: 'splitting' });
  await bundle.session.start('me', 'files');
  await splitting;
  const { pausedMs } = await measureStop(bundle);
  t.diagnostic(`paused in ${pausedMs.toFixed(0)} ms`);
  assert.ok(pausedMs < boundMs, `${pausedMs} ms`);
  assert.equal(bundle.session.look('me').counts?.split, 0);
});
