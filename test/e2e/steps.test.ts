/** Steps that a program adds, replaces and wraps. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { realWorld } from '../../src/app/world.ts';
import { Failure, open, type Pawl, type StepPort } from '../../src/index.ts';
import type { World } from '../../src/kernel/world.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { makeLatch } from '../support/test-world.ts';

const letter = { id: 'letter', text: 'The cat is back. It sleeps.' };

async function opened(t: Cleanup, steps: readonly StepPort[], data = temporaryDirectory(t)) {
  const pawl = await open({ data, steps });
  t.after(() => pawl.close());
  return pawl;
}

async function ingested(pawl: Pawl, documents: readonly { id: string; text: string }[] = [letter]) {
  const job = await pawl.ingest([...documents], { corpus: 'post' });
  const events: string[] = [];
  const details: unknown[] = [];
  for await (const { kind, step, detail } of job.events()) {
    if (step === undefined || step === null) continue;
    events.push(`${kind} ${step}`);
    if (kind !== 'step_completed' || detail?.version === undefined) continue;
    const { duration_ms: _, ...own } = detail;
    details.push(own);
  }
  return { job, events, details, state: (await job.wait()).state };
}

const step = (run: () => Promise<object | undefined>) =>
  ({ add: 'rated', bit: 16, version: '1', run }) as const;

describe('an added step', () => {
  test('gets the text, stores its detail, and runs its effect in the commit', async (t) => {
    const written = new Map<string, string>();
    const pawl = await opened(t, [
      {
        add: 'summarized',
        bit: 17,
        version: '2',
        async run({ id, text, corpus }) {
          const summary = text.split('.')[0] ?? '';
          return {
            detail: { summary, corpus },
            effect: async () => void written.set(id, summary),
          };
        },
      },
    ]);
    const { events, details, state } = await ingested(pawl);
    assert.equal(state, 'succeeded');
    assert.ok(
      events.indexOf('step_completed summarized') < events.indexOf('step_completed persisted'),
    );
    assert.deepEqual([...written.values()], ['The cat is back']);
    assert.deepEqual(details, [{ summary: 'The cat is back', corpus: 'post', version: '2' }]);
  });

  test('can follow another added step', async (t) => {
    const order: string[] = [];
    const note = (name: string) => async () => void order.push(name);
    const pawl = await opened(t, [
      { add: 'first', bit: 16, version: '1', run: note('first') },
      { add: 'second', bit: 17, version: '1', after: ['first'], run: note('second') },
      {
        add: 'last',
        bit: 18,
        version: '1',
        after: ['indexed'],
        before: ['done'],
        run: note('last'),
      },
    ] as unknown as StepPort[]);
    assert.equal((await ingested(pawl)).state, 'succeeded');
    assert.deepEqual(order, ['first', 'second', 'last']);
  });

  test('fails its document by the code of its failure; other errors are retried', async (t) => {
    const thrown: unknown[] = [
      new Error('not yet'),
      new Failure('step_output_invalid', 'no summary can be made'),
    ];
    const pawl = await opened(t, [
      step(async () => {
        throw thrown.shift();
      }),
    ]);
    const { job, events, state } = await ingested(pawl);
    assert.equal(state, 'failed');
    assert.ok(events.includes('retry_scheduled rated'));
    assert.match(JSON.stringify(await job.items().all()), /no summary can be made/);
  });

  test('is ended at its own timeout', async (t) => {
    const [begun, aborted] = [makeLatch(), makeLatch()];
    const timeoutMs = 12_345;
    const real = realWorld();
    // The time is over when the step has begun, however long it takes to read its document.
    const setTimer: World['setTimer'] = (run, delayMs) => {
      if (delayMs !== timeoutMs) return real.setTimer(run, delayMs);
      let isCanceled = false;
      void begun.opened.then(() => isCanceled || run());
      return () => {
        isCanceled = true;
      };
    };
    const rated: StepPort = {
      add: 'rated',
      bit: 16,
      version: '1',
      timeoutMs,
      run: (_, { signal }) => {
        begun.open();
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted.open();
            reject(signal.reason);
          });
        });
      },
    };
    const world = { ...real, setTimer };
    const pawl = await open({ data: temporaryDirectory(t), steps: [rated], world });
    t.after(() => pawl.close());
    const job = await pawl.ingest([letter], { corpus: 'post' });
    await aborted.opened;
    await job.cancel();
  });
});

describe('a replaced step', () => {
  test('reads the text in its own way, or changes what Pawl reads', async (t) => {
    const pawl = await opened(t, [
      {
        replace: 'content_extracted',
        version: '1',
        async run({ mediaType }, { parse }) {
          const { text, title } = await parse();
          return { text: `${text.replaceAll('cat', 'dog')} (${mediaType})`, title };
        },
      },
    ]);
    assert.equal((await ingested(pawl)).state, 'succeeded');
    const [hit] = await pawl.search('post', 'dog', { mode: 'keyword' });
    assert.equal(hit?.text, 'The dog is back. It sleeps. (text/plain)');
  });

  test('that reads no text puts the document into the inbox', async (t) => {
    const run = async () => ({ text: ' ' });
    const pawl = await opened(t, [{ replace: 'content_extracted', version: '1', run }]);
    const { job, state } = await ingested(pawl);
    assert.equal(state, 'failed');
    assert.match(JSON.stringify(await job.items().all()), /no_usable_content/);
  });

  test('finds the entities', async (t) => {
    const pawl = await opened(t, [
      {
        replace: 'entity_extracted',
        version: '1',
        run: async ({ text }) => {
          const name = text.slice(4, 7);
          return [{ kind: 'name', name, mentions: [{ start: 4, end: 7 }] }];
        },
      },
    ]);
    assert.equal((await ingested(pawl)).state, 'succeeded');
    assert.deepEqual(
      (await pawl.entities('post').all()).map(({ name }) => name),
      ['cat'],
    );
  });
});

describe('a wrapped step', () => {
  test('runs around the step of Pawl', async (t) => {
    const order: string[] = [];
    const pawl = await opened(t, [
      {
        wrap: 'embedded',
        version: '1',
        async run({ source }, _call, next) {
          order.push(`before ${source}`);
          await next();
          order.push('after');
        },
      },
    ]);
    const { state, details } = await ingested(pawl);
    assert.equal(state, 'succeeded');
    assert.deepEqual(
      details.map((detail) => (detail as { version: string }).version),
      ['1'],
    );
    assert.deepEqual(order, ['before inline:letter', 'after']);
    assert.equal((await pawl.search('post', 'cat')).length, 1);
  });

  test('that does not call next fails the document', async (t) => {
    const pawl = await opened(t, [{ wrap: 'chunked', version: '1', run: async () => undefined }]);
    const job = await pawl.ingest([letter], { corpus: 'post' });
    for await (const { kind } of job.events()) if (kind === 'retry_scheduled') break;
    // People see the code of a failure that is retried; the store has its message.
    const rows = await sessionOf(pawl).store.run({ text: 'SELECT * FROM items' });
    assert.match(JSON.stringify(rows), /did not call next/);
    await job.cancel();
  });
});

test('steps have no part in re-embedding', async (t) => {
  const runs: string[] = [];
  const data = temporaryDirectory(t);
  const pawl = await opened(t, [step(async () => void runs.push('rated') as undefined)], data);
  await ingested(pawl);
  assert.deepEqual(runs, ['rated']);
  await pawl.close();
  const embedder = {
    model: 'one',
    dimensions: 1,
    embedDocuments: async (texts: readonly string[]) => texts.map(() => [1]),
    embedQuery: async () => [1],
  };
  const again = await open({
    data,
    embedder,
    steps: [step(async () => void runs.push('again') as undefined)],
  });
  t.after(() => again.close());
  const job = await again.reembed('post');
  assert.equal((await job?.wait())?.state, 'succeeded');
  assert.deepEqual(runs, ['rated']);
  assert.equal((await again.search('post', 'cat')).length, 1);
});
