/** What a program passes to `open()` is used, and what is wrong with it is said at once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure, type OpenOptions, open, type Pawl } from '../../src/index.ts';
import type { EmbedderPort } from '../../src/port/embedder.ts';
import type { RerankerPort } from '../../src/port/reranker.ts';
import type { SinkPort } from '../../src/port/sink.ts';
import { longText } from '../support/long-text.ts';
import { fakeVector } from '../support/openai-server.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';

const letter = { id: 'letter', text: 'Mira Novak met Jonas Berg in Oslo. They spoke about tides.' };
const note = { id: 'note', text: 'The lighthouse keeper counts the ships at night.' };

async function opened(t: Cleanup, options: OpenOptions): Promise<Pawl> {
  const pawl = await open({ data: temporaryDirectory(t), ...options });
  t.after(() => pawl.close());
  return pawl;
}

async function ingested(pawl: Pawl, documents = [letter, note]): Promise<string> {
  const job = await pawl.ingest(documents, { corpus: 'post' });
  return (await job.wait()).state;
}

/** Records its calls. Queries point to where the document with their text is. */
function wordEmbedder(model = 'words-8') {
  const calls: { kind: 'documents' | 'query'; texts: readonly string[] }[] = [];
  const embedder: EmbedderPort = {
    model,
    dimensions: 8,
    batchSize: 2,
    centsPerMillionTokens: 0,
    async embedDocuments(texts) {
      calls.push({ kind: 'documents', texts });
      return texts.map((text) => fakeVector(text));
    },
    async embedQuery(text) {
      calls.push({ kind: 'query', texts: [text] });
      return [...fakeVector(text)];
    },
  };
  return { embedder, calls };
}

describe('an embedder of the program', () => {
  test('embeds documents and queries by their own functions, within its batch size', async (t) => {
    const { embedder, calls } = wordEmbedder();
    const pawl = await opened(t, { embedder });
    const many = Array.from({ length: 5 }, (_, at) => ({ id: `${at}`, text: `number ${at}` }));
    assert.equal(await ingested(pawl, many), 'succeeded');
    const [hit] = await pawl.search('post', 'number 3', { mode: 'vector' });
    assert.equal(hit?.text, 'number 3');
    assert.deepEqual(calls.at(-1), { kind: 'query', texts: ['number 3'] });
    const sent = calls.filter(({ kind }) => kind === 'documents');
    assert.ok(sent.every(({ texts }) => texts.length <= 2));
    assert.equal(sent.flatMap(({ texts }) => texts).length, 5);
  });

  test('is needed again for its corpus, and the refusal says what to do', async (t) => {
    const data = temporaryDirectory(t);
    const before = await open({ data, embedder: wordEmbedder().embedder });
    await ingested(before);
    await before.close();
    const after = await opened(t, { data });
    await assert.rejects(after.search('post', 'tides'), (error: Failure) => {
      assert.equal(error.code, 'origin_not_configured');
      assert.match(error.message, /words-8/);
      assert.match(error.message, /open\(\{ embedder \}\)/);
      return true;
    });
    assert.equal((await after.search('post', 'tides', { mode: 'keyword' })).length, 1);
  });

  test('that returns wrong vectors fails its documents with the reason', async (t) => {
    const cases: readonly [EmbedderPort['embedDocuments'], RegExp][] = [
      [async () => [], /returned 0 vectors for/],
      [async (texts) => texts.map(() => [1, 2]), /of length 2, not 8/],
      [async (texts) => texts.map(() => Array(8).fill(Number.NaN)), /no finite number/],
    ];
    for (const [embedDocuments, expected] of cases) {
      const embedder = { ...wordEmbedder().embedder, embedDocuments };
      const pawl = await opened(t, { embedder });
      const job = await pawl.ingest([note], { corpus: 'post' });
      await job.wait();
      const [item] = await job.items().all();
      assert.match(JSON.stringify(item), expected);
    }
  });

  test('that throws is retried', async (t) => {
    let isFirst = true;
    const { embedder } = wordEmbedder();
    const failing: EmbedderPort = {
      ...embedder,
      async embedDocuments(texts, call) {
        if (!isFirst) return embedder.embedDocuments(texts, call);
        isFirst = false;
        throw new Error('the model is still loading');
      },
    };
    const pawl = await opened(t, { embedder: failing });
    const job = await pawl.ingest([note], { corpus: 'post' });
    const retries: string[] = [];
    for await (const event of job.events()) {
      if (event.kind === 'retry_scheduled') retries.push(JSON.stringify(event));
    }
    assert.match(retries.join(), /port_failed/);
    assert.equal((await job.wait()).state, 'succeeded');
  });
});

describe('a reranker of the program', () => {
  test('orders the passages that it is given, and its scores are shown', async (t) => {
    const seen: string[][] = [];
    const reranker: RerankerPort = {
      name: 'shortest',
      async rerank(_query, passages) {
        seen.push(passages.map(({ text }) => text));
        return passages.map(({ text }) => 1 / text.length);
      },
    };
    const pawl = await opened(t, { reranker });
    await ingested(pawl);
    const hits = await pawl.search('post', 'tides keeper');
    assert.deepEqual(
      hits.map(({ text, score }) => [text, score]),
      [
        [note.text, 1 / note.text.length],
        [letter.text, 1 / letter.text.length],
      ],
    );
    assert.equal(seen.length, 1);
  });

  test('that returns a wrong list of scores leaves the order and says why', async (t) => {
    const scores: number[] = [];
    const reranker = { name: 'broken', rerank: async () => scores };
    const pawl = await opened(t, { reranker });
    await ingested(pawl);
    const why = async () => {
      const { results, reranked } = await pawl.searchResponse('post', 'tides');
      assert.ok(results.length > 0);
      return `${reranked?.model}: ${reranked?.failure?.detail}`;
    };
    assert.match(await why(), /broken: .*returned 0 scores for \d passages/);
    scores.push(2, 2);
    assert.match(await why(), /not between 0 and 1|returned 2 scores/);
  });
});

describe('an entity extractor of the program', () => {
  test('names the entities of each document', async (t) => {
    const extractor = {
      name: 'gazetteer',
      extract: async (text: string) =>
        ['Mira Novak', 'Jonas Berg', 'Nobody Here']
          .filter((name) => text.includes('Oslo') || name === 'Nobody Here')
          .map((name) => ({ kind: 'person', name }) as const),
    };
    const pawl = await opened(t, { extractor });
    assert.equal(await ingested(pawl), 'succeeded');
    const entities = await pawl.entities('post').all();
    assert.deepEqual(entities.map(({ name }) => name).sort(), ['Jonas Berg', 'Mira Novak']);
  });
});

describe('a sink of the program', () => {
  test('gets each generation before it is current, and then what to keep', async (t) => {
    const held = new Map<number, string[]>();
    const sink: SinkPort = {
      name: 'memory',
      keeps: 'vectors',
      async write(generation, models) {
        const texts: string[] = [];
        for (const model of models) {
          for await (const page of generation.chunks(model)) {
            texts.push(...page.map(({ text }) => text));
          }
        }
        held.set(generation.id, texts);
      },
      async settle({ current, asOf }) {
        for (const id of held.keys()) if (id !== current && id <= asOf) held.delete(id);
      },
      async tidy() {},
    };
    const pawl = await opened(t, { sinkAdapters: [sink] });
    await ingested(pawl, [note]);
    await ingested(pawl, [{ ...note, text: 'The light is out.' }]);
    assert.deepEqual([...held.values()], [['The light is out.']]);
  });
});

describe('a blob store of the program', () => {
  test('keeps the fetched bytes', async (t) => {
    const { createHash } = await import('node:crypto');
    const held = new Map<string, Uint8Array>();
    const blobs = {
      async put(bytes: Uint8Array) {
        const key = createHash('sha256').update(bytes).digest('hex');
        held.set(key, Buffer.from(bytes));
        return key;
      },
      get: async (key: string) => held.get(key),
    };
    const { mkdirSync, writeFileSync } = await import('node:fs');
    const { join } = await import('node:path');
    const folder = temporaryDirectory(t);
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'long.txt');
    // What is small, also when compressed, is stored in the database.
    writeFileSync(
      file,
      longText(3000, (mark) => `A long line about the sea: ${mark}.`),
    );
    const pawl = await opened(t, { blobs });
    const job = await pawl.ingest([file], { corpus: 'post' });
    assert.equal((await job.wait()).state, 'succeeded');
    assert.equal(held.size, 1);
  });
});

describe('a wrong part', () => {
  const cases: readonly [title: string, options: object, expected: RegExp][] = [
    [
      'an embedder',
      { embedder: { embed: () => [] } },
      /model must be.*embedQuery must be a function/,
    ],
    [
      'an embedder without dimensions',
      { embedder: { ...wordEmbedder().embedder, dimensions: 0 } },
      /is no embedder: dimensions must be a whole number from 1 to 8192$/,
    ],
    ['a reranker', { reranker: { name: 'a' } }, /is no reranker: rerank must be a function$/],
    ['an extractor', { extractor: { name: 'a' } }, /is no entity extractor: extract must be/],
    [
      'a sink',
      { sinkAdapters: [{ name: 'a', keeps: 'all' }] },
      /entry 0, is no sink: keeps must be one of vectors, entities; write must/,
    ],
    ['a blob store', { blobs: { put: () => '' } }, /is no blob store: get must be a function$/],
    ['a step', { steps: [{ name: 'a' }] }, /exactly one of add, replace and wrap/],
    [
      'a step with a wrong bit',
      { steps: [{ add: 'rated', bit: 3, version: '1', run: () => 0 }] },
      /bit must be a whole number from 16 to 30$/,
    ],
    [
      'a step between wrong steps',
      { steps: [{ add: 'rated', bit: 16, version: '1', run: () => 0, after: ['indexed'] }] },
      /cannot be after indexed and before persisted/,
    ],
    [
      'a replaced step',
      { steps: [{ replace: 'indexed', version: '1', run: () => 0 }] },
      /replace must be one of content_extracted, entity_extracted$/,
    ],
    [
      'a batch provider',
      { batchAdapters: [{ name: 'acme' }] },
      /is no batch provider: taskTypes must/,
    ],
  ];
  for (const [title, options, expected] of cases) {
    test(`is refused when Pawl opens: ${title}`, async (t) => {
      await assert.rejects(open({ data: temporaryDirectory(t), ...options }), (error) => {
        assert.ok(error instanceof Failure);
        assert.equal(error.code, 'usage_error');
        assert.match(error.message, expected);
        return true;
      });
    });
  }
});
