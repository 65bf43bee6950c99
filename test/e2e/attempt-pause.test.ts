/** An attempt over real files, with real parsers: pauses are fast and repeat no work. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { realWorld } from '../../src/app/world.ts';
import { thisProcess } from '../../src/engine/item/liveness.ts';
import {
  type ProcessParserOptions,
  processParser,
} from '../../src/pipeline/extract/process/process-parser.ts';
import { assertBestMs } from '../support/measure.ts';
import { patience } from '../support/patience.ts';
import { hasWritten, isStopped } from '../support/process-state.ts';
import { type SessionSetup, setupSession } from '../support/session-fixture.ts';
import type { Cleanup } from '../support/temporary.ts';
import { until } from '../support/wait.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const filesMax = 200;

/** Pages, Markdown and code of this project, sorted by name. */
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

/** Everything stored of the sources, without ids and times, which differ between runs. */
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

test('200 real files, paused repeatedly, are parsed once and stored the same', async (t) => {
  const straight = await setup(t);
  assert.equal(await stageAll(straight), filesMax);
  await straight.session.start('me', 'files');
  await straight.session.settled();
  assert.equal(straight.session.look('me').status, 'complete');

  const paused = await setup(t);
  const { session } = paused;
  await stageAll(paused);
  let pauses = 0;
  // Each pause comes after a fixed number of sources, in any phase.
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

/** From the request to the pause. The response is sent before the pause. */
async function measureStop({ session, published }: SessionSetup): Promise<number> {
  const startedAt = performance.now();
  const paused = published({ status: 'paused' });
  assert.equal(session.stop('me').status, 'stopping');
  await paused;
  return performance.now() - startedAt;
}

const boundMs = 1000;
const fixtures = '../../src/pipeline/extract/process/fixture';

test('a stop pauses within a second while a parser hangs', async (t) => {
  const module = import.meta.resolve(`${fixtures}/wild-parser.ts`);
  const bestMs = await assertBestMs(boundMs, async () => {
    const bundle = await setup(t, { module, size: 1, timeoutMs: patience.fileMs });
    await bundle.upload('spin.html', 'spin');
    await bundle.session.start('me', 'files');
    await until(() => hasWritten(bundle.parser.pids()[0], 'spinning'), { what: 'a hung parser' });
    return measureStop(bundle);
  });
  t.diagnostic(`paused in ${bestMs.toFixed(0)} ms`);
});

test('a stop pauses within a second while a large file is parsed', async (t) => {
  const module = import.meta.resolve(`${fixtures}/announced-parser.ts`);
  const paragraph = '<p>The heron waits in the reeds until the water is quiet again.</p>\n';
  const bestMs = await assertBestMs(boundMs, async () => {
    const bundle = await setup(t, { module, size: 1, timeoutMs: patience.fileMs });
    await bundle.upload('large.html', `<html><body>${paragraph.repeat(200_000)}</body></html>`);
    await bundle.session.start('me', 'files');
    await until(() => hasWritten(bundle.parser.pids()[0], 'begun'), { what: 'a busy parser' });
    const pausedMs = await measureStop(bundle);
    assert.deepEqual(bundle.parsed, []);
    assert.equal(bundle.session.look('me').phase, 'parsing');
    return pausedMs;
  });
  t.diagnostic(`paused in ${bestMs.toFixed(0)} ms`);
});

test('a stop pauses within a second while a parser starts', async (t) => {
  const module = import.meta.resolve(`${fixtures}/stopped-parser.ts`);
  const bestMs = await assertBestMs(boundMs, async () => {
    const bundle = await setup(t, { module, size: 1 });
    await bundle.upload('page.html', 'say The heron waits.');
    await bundle.session.start('me', 'files');
    await until(() => isStopped(bundle.parser.pids()[0]), { what: 'a parser that starts' });
    return measureStop(bundle);
  });
  t.diagnostic(`paused in ${bestMs.toFixed(0)} ms`);
});

test('a stop pauses within a second while a long text is chunked', async (t) => {
  const text = 'The heron waits in the reeds until it is quiet.\n\n'.repeat(90_000);
  const bestMs = await assertBestMs(boundMs, async () => {
    const bundle = await setup(t);
    await bundle.upload('long.txt', text);
    const splitting = bundle.published({ phase: 'splitting' });
    await bundle.session.start('me', 'files');
    await splitting;
    const pausedMs = await measureStop(bundle);
    assert.equal(bundle.session.look('me').counts?.split, 0);
    return pausedMs;
  });
  t.diagnostic(`paused in ${bestMs.toFixed(0)} ms`);
});
