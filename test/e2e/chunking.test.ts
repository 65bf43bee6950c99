/** The size and the overlap of chunks from outside: the command, the library and the service. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { CorpusDetail } from '../../src/contract/schema/schema.ts';
import { open } from '../../src/index.ts';
import { openBench } from './api-client.ts';
import { openRunner } from './pawl-process.ts';

const text = Array.from({ length: 30 }, (_, n) => `The otter number ${n} sleeps at the weir.`);
const note = `# Otters\n\n${text.join(' ')}\n`;

describe('pawl corpora chunking', { concurrency: 2 }, () => {
  for (const way of ['on a store', 'with --url']) {
    test(`splits documents again whose files are gone: ${way}`, async (t) => {
      const service = way === 'with --url' ? (await openBench(t)).service : undefined;
      const url = service ? ['--url', service.address] : [];
      const place = openRunner(t);
      place.write('docs/otter.md', note);
      const ingested = await place.run(['ingest', 'docs', '--corpus', 'notes', ...url]);
      assert.equal(ingested.code, 0, ingested.stderr);
      rmSync(join(place.folder, 'docs'), { recursive: true });
      const show = () => place.readOne<CorpusDetail>(['corpora', 'show', 'notes', ...url]);
      const before = await show();
      const set = ['corpora', 'chunking', 'notes', ...url];
      const smaller = await place.run([...set, '--tokens', '64', '--overlap', '0']);
      assert.equal(smaller.code, 0, smaller.stderr);
      const after = await show();
      assert.ok(after.chunks > 2 * before.chunks, `${before.chunks} and then ${after.chunks}`);
      assert.deepEqual(
        [after.chunk_tokens, after.chunk_overlap_tokens, after.documents_to_chunk],
        [64, 0, 0],
      );
      const again = await place.run(set);
      assert.match(again.stdout, /chunks of up to 64 tokens, without overlap; no document/);
      const shown = await place.run(['corpora', 'show', 'notes', ...url]);
      assert.match(shown.stdout, /chunk size +up to 64 tokens, without overlap/);
      assert.equal((await place.run([...set, '--default'])).code, 0);
      assert.equal((await show()).chunks, before.chunks);
    });
  }

  test('refuses sizes out of bounds, and says which are allowed', async (t) => {
    const place = openRunner(t);
    place.write('a.md', 'The otter sleeps.');
    assert.equal((await place.run(['ingest', 'a.md', '--corpus', 'notes'])).code, 0);
    const set = (...flags: string[]) => place.run(['corpora', 'chunking', 'notes', ...flags]);
    const small = await set('--tokens', '8');
    assert.equal(small.code, 64);
    assert.match(small.stderr, /--tokens must be a whole number from 32 to 2048, not 8/);
    const wide = await set('--tokens', '100', '--overlap', '50');
    assert.equal(wide.code, 1);
    assert.match(wide.stderr, /0 to 49 tokens, not by 50: the overlap must be less than half/);
    const both = await set('--default', '--tokens', '64');
    assert.deepEqual([both.code, /--default sets both/.test(both.stderr)], [64, true]);
  });
});

test('the library sets the size of chunks of a corpus that exists', async (t) => {
  const place = openRunner(t);
  await using pawl = await open({ data: join(place.folder, 'data') });
  const sizes = { chunkTokens: 64, chunkOverlapTokens: 0 };
  await assert.rejects(pawl.rechunk('notes', sizes), { code: 'corpus_unknown' });
  const ingest = async (id: string) => {
    const job = await pawl.ingest([{ id, markdown: note }], { corpus: 'notes' });
    await job.wait();
  };
  await ingest('otter');
  await (await pawl.rechunk('notes', sizes))?.wait();
  await ingest('weir');
  const small = await pawl.corpus('notes');
  assert.deepEqual([small.chunkTokens, small.documentsToChunk], [64, 0]);
  const job = await pawl.rechunk('notes', { chunkTokens: null, chunkOverlapTokens: null });
  assert.ok(job);
  await job.wait();
  const large = await pawl.corpus('notes');
  assert.deepEqual([large.chunkTokens, large.chunkOverlapTokens], [256, 32]);
  assert.ok(large.chunks < small.chunks);
  await assert.rejects(pawl.rechunk('notes', { chunkTokens: 3000 }), { code: 'bad_request' });
});

test('POST /chunk splits by the sizes of the request', async (t) => {
  const { ask } = await openBench(t);
  const count = async (sizes: object) => {
    const body = { text: note, ...sizes };
    const answer = await ask<{ chunks: object[] }>('POST /chunk', { body });
    return answer.body.chunks.length;
  };
  assert.ok((await count({ chunk_tokens: 64 })) > (await count({})));
});
