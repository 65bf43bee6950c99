/** The end of a process with an open attempt, on signals and kills. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Attempt } from '../../src/contract/operation/attempt.ts';
import type { Cleanup } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { type CommandRunner, openRunner } from './pawl-process.ts';

async function serve(place: CommandRunner) {
  const started = place.start(['serve', '--port', '0', '--no-sample']);
  const [, address = ''] = await started.seen(/(http:\/\/127\.0\.0\.1:\d+)/);
  const ask = async <Body>(path: string, init?: RequestInit): Promise<Body> =>
    (await (await fetch(`${address}${path}`, init)).json()) as Body;
  const start = (corpus: string) =>
    ask<Attempt>('/attempt/start', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ corpus_name: corpus }),
    });
  return { ...started, ask, start };
}

/** A service during an attempt that has a long text to chunk. */
async function openAttempt(t: Cleanup) {
  const place = openRunner(t);
  const service = await serve(place);
  const form = new FormData();
  const text = 'The heron waits in the reeds until it is quiet.\n\n'.repeat(100_000);
  form.append('file', new Blob([text]), 'long.txt');
  await service.ask('/staging', { method: 'POST', body: form });
  await service.start('notes');
  const isSplitting = async () => (await service.ask<Attempt>('/attempt')).phase === 'splitting';
  await until(isSplitting, { what: 'the chunking' });
  return { place, service, folders: () => readdirSync(join(place.folder, '.pawl/attempts')) };
}

async function pause({ ask }: Awaited<ReturnType<typeof serve>>): Promise<void> {
  await ask('/attempt/stop', { method: 'POST' });
  const isPaused = async () => (await ask<Attempt>('/attempt')).status === 'paused';
  await until(isPaused, { what: 'the pause' });
}

async function assertForgotten(place: CommandRunner, folders: () => string[]): Promise<void> {
  const next = await serve(place);
  assert.deepEqual(folders(), []);
  const { status, attempt_id: id } = await next.ask<Attempt>('/attempt');
  assert.deepEqual([status, id], ['idle', null]);
  for (const path of ['/corpora', '/jobs', '/staging']) {
    assert.deepEqual((await next.ask<{ items: unknown[] }>(path)).items, [], path);
  }
  next.child.kill('SIGTERM');
  assert.equal((await next.finished).code, 0);
}

describe('an open attempt', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`is discarded on ${signal}, and the next start removes its folders`, async (t) => {
      const { place, service, folders } = await openAttempt(t);
      service.child.kill(signal);
      assert.equal((await service.finished).code, 0);
      assert.equal(folders().length, 2, 'the workspace and the staged files');
      await assertForgotten(place, folders);
    });
  }

  test('that is paused cannot be resumed after a restart', async (t) => {
    const { place, service, folders } = await openAttempt(t);
    await pause(service);
    service.child.kill('SIGTERM');
    assert.equal((await service.finished).code, 0);
    await assertForgotten(place, folders);
  });

  test('of a killed process is removed by the next start', async (t) => {
    const { place, service, folders } = await openAttempt(t);
    service.child.kill('SIGKILL');
    await service.finished;
    await assertForgotten(place, folders);
  });

  test('keeps its folders while another process starts on the same store', async (t) => {
    const { place, service, folders } = await openAttempt(t);
    await pause(service);
    const other = await serve(place);
    assert.equal(folders().length, 2);
    other.child.kill('SIGTERM');
    await other.finished;
    assert.equal(folders().length, 2);
    const { status } = await service.ask<Attempt>('/attempt/resume', { method: 'POST' });
    assert.equal(status, 'running');
    service.child.kill('SIGTERM');
    await service.finished;
  });
});
