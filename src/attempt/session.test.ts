import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setupSession as setup } from '../../test/support/session-fixture.ts';
import { makeLatch } from '../../test/support/test-world.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { parse } from '../pipeline/extract/format/parse.ts';
import type { Parser } from '../pipeline/extract/parsed.ts';

/** Parses one document, and then none before it is released or stopped. */
function slowParser() {
  const busy = makeLatch();
  let free = 1;
  const parser: Parser = async (input, signal) => {
    free -= 1;
    if (free >= 0) return parse(input, signal);
    busy.open();
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  };
  const letGo = (): void => {
    free = 1_000_000;
  };
  return { parser, busy: busy.opened, letGo };
}

const hasCode = (code: string) => (error: unknown) =>
  error instanceof Failure && error.code === code;

test('staged files are committed with text and chunks, and a job continues', async (t) => {
  const { session, upload, count, rows, workspaces } = await setup(t);
  await upload('one.md', '# One\n\nThe first text.');
  await upload('two.txt', 'The second text.');
  const begun = await session.start('me', 'notes');
  assert.equal(begun.status, 'running');
  assert.equal(begun.isDraft, true);
  await session.settled();
  const view = session.look('me');
  assert.equal(view.status, 'complete');
  assert.equal(view.isDraft, false);
  assert.ok(view.jobKey);
  assert.deepEqual(view.counts, {
    total: 2,
    checked: 2,
    parsed: 2,
    split: 2,
    skipped: 0,
    failed: 0,
  });
  assert.deepEqual(
    await rows('SELECT source, source_kind, step, waits_on FROM items ORDER BY source'),
    ['one.md', 'two.txt'].map((name) => ({
      source: `upload:${name}`,
      source_kind: 'upload',
      step: 'chunked',
      waits_on: 'turn',
    })),
  );
  assert.equal(await count('texts'), 2);
  assert.equal(await count('chunks'), 2);
  assert.deepEqual(session.sources('me'), []);
  assert.deepEqual(workspaces(), []);
});

test('phases are published in order, and text_committed when the text is stored', async (t) => {
  const { session, upload, news } = await setup(t);
  const stored: boolean[] = [];
  session.listen((each) => {
    if (each.kind !== 'attempt' || each.view.phase !== 'text_committed') return;
    stored.push(each.view.jobKey !== null);
  });
  await upload('one.txt', 'text');
  await session.start('me', 'notes');
  await session.settled();
  const phases = news.flatMap((each) => (each.kind === 'attempt' ? [each.view.phase] : []));
  assert.deepEqual(phases, [
    'preflight',
    'parsing',
    'splitting',
    'atomic_text_commit',
    'text_committed',
    'not_started',
  ]);
  assert.deepEqual(stored, [true]);
});

test('leaving is safe only before the start, and once the text is committed', async (t) => {
  const { session, upload, news } = await setup(t);
  assert.equal(session.look('me').safeToLeave, true);
  await upload('one.txt', 'text');
  await session.start('me', 'notes');
  await session.settled();
  const safe = news.flatMap((each) =>
    each.kind === 'attempt' && each.view.safeToLeave ? [each.view.phase] : [],
  );
  assert.deepEqual(safe, ['text_committed', 'not_started']);
});

test('a stop returns at once, and pauses when the parser has ended', async (t) => {
  const { parser, busy, letGo } = slowParser();
  const { session, upload, published, parsed, count, workspaces } = await setup(t, { parser });
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await upload(`${name}.txt`, `text ${name}`);
  await session.start('me', 'notes');
  await busy;
  const paused = published({ status: 'paused' });
  const answered = session.stop('me');
  assert.equal(answered.status, 'stopping');
  assert.equal(answered.phase, 'parsing');
  await paused;
  assert.equal(session.look('me').phase, 'parsing');
  assert.equal(workspaces().length, 1);
  assert.equal(await count('jobs'), 0);
  const before = [...parsed];
  letGo();
  assert.equal(session.resume('me').status, 'running');
  await session.settled();
  assert.equal(session.look('me').status, 'complete');
  assert.deepEqual([...parsed].sort(), ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt', 'f.txt']);
  assert.equal(before.length, 1);
  assert.equal(await count('items'), 6);
});

test('an unreadable source is skipped, with its reason, and stays staged', async (t) => {
  const { session, upload, count } = await setup(t);
  await upload('good.txt', 'text');
  await upload('empty.txt', '');
  await upload('binary.bin', new Uint8Array([0, 1, 2, 3]));
  await upload('blank.txt', '   \n  ');
  await session.start('me', 'notes');
  await session.settled();
  assert.equal(session.look('me').status, 'complete');
  assert.equal(await count('items'), 1);
  assert.deepEqual(
    session.sources('me').map(({ name, status, code }) => [name, status, code]),
    [
      ['empty.txt', 'refused', 'empty_source'],
      ['binary.bin', 'refused', 'unsupported_mime'],
      ['blank.txt', 'failed', 'no_usable_content'],
    ],
  );
});

test('an attempt whose sources all fail is idle again, and commits nothing', async (t) => {
  const { session, upload, count, workspaces } = await setup(t);
  await upload('empty.txt', '');
  await session.start('me', 'notes');
  await session.settled();
  const { status, jobKey, phase } = session.look('me');
  assert.deepEqual(
    { status, jobKey, phase },
    { status: 'idle', jobKey: null, phase: 'not_started' },
  );
  assert.equal(await count('jobs'), 0);
  assert.equal(await count('corpora'), 0);
  assert.deepEqual(workspaces(), []);
  assert.equal(session.sources('me').length, 1);
});

test('a draft corpus is created by the commit, or not at all', async (t) => {
  const { parser, busy } = slowParser();
  const { session, upload, count } = await setup(t, { parser });
  await upload('a.txt', 'one');
  await upload('b.txt', 'two');
  await session.start('me', 'notes');
  await busy;
  assert.equal(session.look('me').isDraft, true);
  for (const table of ['corpora', 'jobs', 'items', 'texts', 'chunks', 'events']) {
    assert.equal(await count(table), 0, `an attempt that is open has nothing in ${table}`);
  }
  await session.close();
  assert.equal(await count('corpora'), 0);
});

test('closing the application commits nothing and leaves the folder', async (t) => {
  const { parser, busy } = slowParser();
  const { session, upload, count, workspaces, lines } = await setup(t, { parser });
  await upload('a.txt', 'one');
  await upload('b.txt', 'two');
  await session.start('me', 'notes');
  await busy;
  await session.close();
  assert.equal(session.look('me').status, 'stopping');
  assert.equal(await count('jobs'), 0);
  assert.equal(workspaces().length, 1);
  assert.throws(() => session.resume('me'), hasCode('action_not_allowed'));
  assert.equal(lines.filter((line) => line.includes('error')).length, 0);
});

test('a stop during the commit stores nothing, and resuming commits all', async (t) => {
  const inCommit = makeLatch();
  let stop: (() => unknown) | undefined;
  const { session, upload, count, published } = await setup(t, {
    commands: (own) => ({
      submitParsed: (submission) =>
        own.submitParsed({
          ...submission,
          check: () => {
            stop?.();
            stop = undefined;
            submission.check();
            inCommit.open();
          },
        }),
    }),
  });
  await upload('a.txt', 'one');
  await upload('b.txt', 'two');
  stop = () => session.stop('me');
  const paused = published({ status: 'paused' });
  await session.start('me', 'notes');
  await paused;
  assert.equal(session.look('me').phase, 'atomic_text_commit');
  assert.equal(await count('jobs'), 0);
  assert.equal(await count('texts'), 0);
  session.resume('me');
  await session.settled();
  assert.equal(session.look('me').status, 'complete');
  assert.equal(await count('texts'), 2);
});

test('a stop after the commit says so: idle, with the job that continues', async (t) => {
  const { session, upload, count } = await setup(t, {
    commands: (own) => ({
      submitParsed: async (submission) => {
        const ids = await own.submitParsed(submission);
        session.stop('me');
        return ids;
      },
    }),
  });
  await upload('a.txt', 'one');
  await session.start('me', 'notes');
  await session.settled();
  const { status, jobKey } = session.look('me');
  assert.equal(status, 'idle');
  assert.ok(jobKey);
  assert.equal(await count('jobs'), 1);
  assert.deepEqual(session.sources('me'), []);
});

test('a commit whose response was lost is found, and not repeated', async (t) => {
  const { session, upload, count } = await setup(t, {
    commands: (own) => ({
      submitParsed: async (submission) => {
        await own.submitParsed(submission);
        throw new Failure('store_busy', 'the connection was lost');
      },
    }),
  });
  await upload('a.txt', 'one');
  await session.start('me', 'notes');
  await session.settled();
  assert.equal(session.look('me').status, 'complete');
  assert.equal(await count('jobs'), 1);
});

test('a failure of the machine pauses the attempt, which can be resumed', async (t) => {
  let isFull = true;
  const { session, upload } = await setup(t, {
    commands: (own) => ({
      submitParsed: async (submission) => {
        if (isFull) throw new Failure('storage_full', 'no room');
        return own.submitParsed(submission);
      },
    }),
  });
  await upload('a.txt', 'one');
  await session.start('me', 'notes');
  await session.settled();
  const view = session.look('me');
  assert.equal(view.status, 'paused');
  assert.deepEqual(view.trouble, { code: 'storage_full', message: 'no room' });
  isFull = false;
  assert.equal(session.resume('me').trouble, null);
  await session.settled();
  assert.equal(session.look('me').status, 'complete');
});

test('a paused attempt whose sources are all removed is discarded', async (t) => {
  const { parser, busy } = slowParser();
  const { session, upload, published, workspaces, directory } = await setup(t, { parser });
  const ids = [await upload('a.txt', 'one'), await upload('b.txt', 'two')];
  await session.start('me', 'notes');
  await busy;
  await assert.rejects(session.remove('me', ids), hasCode('action_not_allowed'));
  const paused = published({ status: 'paused' });
  session.stop('me');
  await paused;
  assert.equal(await session.remove('me', ids), 2);
  assert.equal(session.look('me').status, 'idle');
  await session.close();
  assert.deepEqual(workspaces(), []);
  const [staging] = readdirSync(join(directory, 'attempts'));
  assert.deepEqual(readdirSync(join(directory, 'attempts', staging ?? '')), []);
});

test('a duplicate source replaces one that is removed', async (t) => {
  const { parser, busy, letGo } = slowParser();
  const { session, upload, published, rows } = await setup(t, { parser });
  await upload('x.txt', 'another');
  const first = await upload('a.txt', 'the same');
  await upload('b.txt', 'the same');
  await upload('c.txt', 'the same');
  await session.start('me', 'notes');
  await busy;
  const paused = published({ status: 'paused' });
  session.stop('me');
  await paused;
  await session.remove('me', [first]);
  assert.deepEqual(
    session.sources('me').map(({ name, plan, explanation }) => [name, plan, explanation]),
    [
      ['x.txt', 'add', 'will be added to the corpus'],
      ['b.txt', 'add', 'will be added to the corpus'],
      ['c.txt', 'skip', 'skipped: it has the same content as b.txt, which is staged as well'],
    ],
  );
  letGo();
  session.resume('me');
  await session.settled();
  assert.deepEqual(await rows('SELECT source FROM items ORDER BY source'), [
    { source: 'upload:b.txt' },
    { source: 'upload:x.txt' },
  ]);
});

test('a caller can neither see nor control the attempt of another', async (t) => {
  const { parser, busy } = slowParser();
  const { session, upload } = await setup(t, { parser });
  await upload('a.txt', 'one');
  await upload('b.txt', 'two');
  await upload('mine.txt', 'three', 'other');
  await session.start('me', 'notes');
  await busy;
  const seen = session.look('other');
  assert.deepEqual([seen.status, seen.attemptId, seen.corpus], ['idle', null, null]);
  assert.equal(seen.isOccupied, false);
  assert.throws(() => session.stop('other'), hasCode('action_not_allowed'));
  assert.deepEqual(
    session.sources('other').map(({ name }) => name),
    ['mine.txt'],
  );
});

test('nothing starts without a source, or with an invalid corpus name', async (t) => {
  const { session, upload, workspaces } = await setup(t);
  await assert.rejects(session.start('me', 'notes'), hasCode('sources_empty'));
  await upload('a.txt', 'one');
  await assert.rejects(session.start('me', 'No Name'), hasCode('corpus_name_invalid'));
  assert.equal(session.look('me').status, 'idle');
  assert.deepEqual(workspaces(), []);
});

test('the log contains no path, no file name and no text', async (t) => {
  const { session, upload, file, lines, directory } = await setup(t);
  await upload('secret-name.txt', 'secret text');
  await upload('empty-secret.txt', '');
  await session.staging.stagePath('me', file('private/secret-path.txt', 'secret words'));
  await session.start('me', 'secret-corpus');
  await session.settled();
  assert.equal(session.look('me').status, 'complete');
  await session.close();
  assert.ok(lines.length > 5);
  const published = lines.filter((line) => /secret|\//.test(line) || line.includes(directory));
  assert.deepEqual(published, []);
  assert.equal(JSON.stringify(session.look('me')).includes(directory), false);
});
