import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { TestWorld } from '../../../test/support/test-world.ts';
import type { BlobStore } from '../../blob/blob.ts';
import { toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { StepContext } from '../pipeline.ts';
import { fetchStep } from './fetch.ts';

interface Setup {
  readonly directory: string;
  readonly blobs: Uint8Array[];
  readonly context: StepContext;
  fetch(source: string, kind?: string): Promise<string>;
}

const noWeb = { get: () => Promise.reject(new Error('nothing here is on the web')) };

function setup(t: TestContext): Setup {
  const directory = temporaryDirectory(t);
  const blobs: Uint8Array[] = [];
  const store: BlobStore = {
    put: async (bytes) => `blob ${blobs.push(bytes)}`,
    get: async () => new Uint8Array(),
  };
  const place = { caller: 'ann', corpus: 'notes' };
  const item = { id: 1, jobId: 1, ...place, payer: place, documentId: 'd', attempt: 1 };
  const context = {
    item: { ...item, sourceKind: 'file', source: '', gate: null, force: false },
    world: new TestWorld(),
    reader: { run: async () => [] },
    signal: new AbortController().signal,
    scratch: new Map<string, unknown>(),
    progress: () => undefined,
  };
  /** The code of the failure, or `ok`. */
  const fetch = async (source: string, kind = 'file'): Promise<string> => {
    const step = fetchStep({ blobs: store, fetcher: noWeb });
    const of = { ...context, item: { ...context.item, source, sourceKind: kind } };
    return step(of).then(
      () => 'ok',
      (error: unknown) => toFailure(error).code,
    );
  };
  return { directory, blobs, context, fetch };
}

test('a file is stored as it is, and passed on in memory', async (t) => {
  const { directory, blobs, context, fetch } = setup(t);
  const path = join(directory, 'a.md');
  // Random digits, so that it is too much for a row even when packed.
  const text = `# Ä\r\n${randomBytes(limits.document.rowBytesMax).toString('hex')}`;
  writeFileSync(path, text);
  assert.equal(await fetch(path), 'ok');
  assert.deepEqual(
    blobs.map((bytes) => Buffer.from(bytes).equals(Buffer.from(text))),
    [true],
  );
  assert.equal((context.scratch.get('source') as { mediaType: string }).mediaType, 'text/markdown');
});

test('a file of zero bytes is an empty source', async (t) => {
  const { directory, fetch } = setup(t);
  const path = join(directory, 'empty.md');
  writeFileSync(path, '');
  assert.equal(await fetch(path), 'empty_source');
});

test('a file that is not text is not supported, and not stored', async (t) => {
  const { directory, blobs, fetch } = setup(t);
  const path = join(directory, 'picture.md');
  writeFileSync(path, new Uint8Array([137, 80, 78, 71, 0, 1]));
  assert.equal(await fetch(path), 'unsupported_mime');
  assert.deepEqual(blobs, []);
});

test('a file above the size limit is refused before it is read', async (t) => {
  const { directory, blobs, fetch } = setup(t);
  const path = join(directory, 'large.txt');
  writeFileSync(path, 'x');
  truncateSync(path, limits.document.sourceBytesMax + 1);
  assert.equal(await fetch(path), 'source_too_large');
  assert.deepEqual(blobs, []);
});

test('a file that is not there is missing, and a folder cannot be read', async (t) => {
  const { directory, fetch } = setup(t);
  assert.equal(await fetch(join(directory, 'nothing.md')), 'source_missing');
  mkdirSync(join(directory, 'folder'));
  assert.equal(await fetch(join(directory, 'folder')), 'source_unreadable');
});

test('a pipe is not a file, and opening it does not block', async (t) => {
  const { directory, fetch } = setup(t);
  const path = join(directory, 'pipe.md');
  execFileSync('mkfifo', [path]);
  assert.equal(await fetch(path), 'source_unreadable');
});

test('an inline text that is gone is missing, and an unknown kind is refused', async (t) => {
  const { fetch } = setup(t);
  assert.equal(await fetch('note', 'inline'), 'source_missing');
  assert.equal(await fetch('note', 'carrier pigeon'), 'bad_request');
});
