/** Several concurrent callers, and ways out of a pause. */
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type SessionSetup, setupSession } from '../../test/support/session-fixture.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { parse } from '../pipeline/extract/format/parse.ts';
import type { Parser } from '../pipeline/extract/parsed.ts';

const hasCode = (code: string) => (error: unknown) =>
  error instanceof Failure && error.code === code;

/** Documents that begin with `slow` are parsed only when released. */
async function setup(t: TestContext) {
  const held = { isHeld: true, laterMs: 0 };
  const parser: Parser = (input, signal) => {
    const isSlow = held.isHeld && Buffer.from(input.bytes).toString().startsWith('slow');
    if (!isSlow) return parse(input, signal);
    return new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  };
  const made = await setupSession(t, { parser, laterMs: () => held.laterMs });
  return { ...made, held };
}

async function paused(made: SessionSetup, caller = 'me'): Promise<void> {
  const { session } = made;
  await session.start(caller, 'notes');
  session.stop(caller);
  await session.settled();
  assert.equal(session.look(caller).status, 'paused');
}

test('two callers import at the same time, each its own', async (t) => {
  const { session, upload, held, rows } = await setup(t);
  await upload('a.txt', 'slow one', 'me');
  await upload('b.txt', 'two', 'other');
  await session.start('me', 'mine');
  const view = await session.start('other', 'theirs');
  assert.equal(view.corpus, 'theirs');
  assert.equal(session.look('me').corpus, 'mine');
  session.stop('me');
  await session.settled();
  assert.deepEqual(
    [session.look('me').status, session.look('other').status],
    ['paused', 'complete'],
  );
  held.isHeld = false;
  session.resume('me');
  await session.settled();
  assert.deepEqual(await rows('SELECT DISTINCT caller FROM items ORDER BY caller'), [
    { caller: 'me' },
    { caller: 'other' },
  ]);
});

test('a limited number of callers have one open, and a long paused one makes room', async (t) => {
  const made = await setup(t);
  const { session, upload, held } = made;
  const callers = Array.from({ length: limits.attempt.callersMax }, (_, index) => `c${index}`);
  for (const caller of callers) {
    await upload('a.txt', 'slow', caller);
    await paused(made, caller);
  }
  await upload('a.txt', 'late', 'late');
  assert.deepEqual([session.look('late').isOccupied, session.look('late').actions], [true, []]);
  await assert.rejects(session.start('late', 'notes'), hasCode('action_not_allowed'));
  held.laterMs = limits.attempt.pausedMsMax;
  assert.equal(session.look('late').isOccupied, false);
  await session.start('late', 'notes');
  await session.settled();
  assert.equal(session.look('late').status, 'complete');
  // The first of them was discarded. Its staged sources are still there.
  assert.equal(session.look('c0').status, 'idle');
  assert.equal(session.sources('c0').length, 1);
  assert.throws(() => session.resume('c0'), hasCode('action_not_allowed'));
  assert.equal(session.look('c1').status, 'paused');
});

test('staging again while paused takes nothing from the paused attempt', async (t) => {
  const made = await setup(t);
  const { session, upload, held, rows } = made;
  await upload('a.txt', 'slow and old');
  await paused(made);
  await upload('a.txt', 'new');
  held.isHeld = false;
  session.resume('me');
  await session.settled();
  assert.deepEqual([session.look('me').status, session.look('me').trouble], ['complete', null]);
  assert.deepEqual(await rows('SELECT body FROM texts'), [{ body: 'slow and old' }]);
  assert.deepEqual(
    session.sources('me').map(({ name, status }) => [name, status]),
    [['a.txt', 'staged']],
  );
  await session.start('me', 'notes');
  await session.settled();
  assert.deepEqual(session.sources('me'), []);
});

test('a paused attempt whose workspace is gone is started again, or discarded', async (t) => {
  const made = await setup(t);
  const { session, upload, held, directory, workspaces } = made;
  const lose = (): void => {
    for (const name of workspaces()) rmSync(join(directory, 'attempts', name), { recursive: true });
  };
  const id = await upload('a.txt', 'slow');
  await paused(made);
  lose();
  assert.throws(() => session.resume('me'), /start again with what is staged/);
  await session.start('me', 'notes');
  session.stop('me');
  await session.settled();
  lose();
  assert.equal(await session.remove('me', [id]), 1);
  assert.equal(session.look('me').status, 'idle');
  await upload('b.txt', 'fresh');
  held.isHeld = false;
  await session.start('me', 'notes');
  await session.settled();
  assert.equal(session.look('me').status, 'complete');
});

test('a paused attempt whose staged files are gone is discarded with them', async (t) => {
  const made = await setup(t);
  const { session, upload, held, directory } = made;
  const id = await upload('a.txt', 'slow');
  await paused(made);
  for (const name of readdirSync(join(directory, 'attempts'))) {
    rmSync(join(directory, 'attempts', name), { recursive: true });
  }
  assert.equal(await session.remove('me', [id]), 1);
  assert.equal(session.look('me').status, 'idle');
  held.isHeld = false;
  await upload('b.txt', 'fresh');
  await session.start('me', 'notes');
  await session.settled();
  assert.equal(session.look('me').status, 'complete');
});

test('a dropped request leaves earlier staged sources', async (t) => {
  const { session, upload } = await setup(t);
  const id = await upload('a.txt', 'kept');
  const request = session.staging.open('me');
  await request.url('http://example.com/a');
  await request.upload({ name: 'a.txt', pieces: pieces('other') });
  assert.equal(session.sources('me').length, 1);
  await request.drop();
  assert.deepEqual(
    session.sources('me').map((source) => source.id),
    [id],
  );
});

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
