import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RobotsCheck } from '../pipeline/fetch/robots/robots-check.ts';
import { toSignedBytes } from '../provider/embedding/vector-bytes.ts';
import {
  remoteEmbedder,
  remoteExtractor,
  remoteParser,
  remoteVisitor,
} from './orchestrator/remote.ts';
import { readResult } from './result.ts';

const source = 'https://example.org/a';
const { signal } = new AbortController();

/** Answers each request with a result as another worker sends it. */
function answering(value: Record<string, unknown>, bytes?: Uint8Array) {
  return async ({ kind, request }: { kind: string; request: Record<string, unknown> }) =>
    readResult({ kind, request }, { value, bytes });
}

function visit(ask: ReturnType<typeof answering>, scratch = new Map<string, unknown>()) {
  const robots = new RobotsCheck({
    fetcher: { get: () => Promise.reject(new Error('nothing is fetched here')) },
    signal,
    now: 0,
    stored: async () => undefined,
  });
  return remoteVisitor(ask, scratch)({ source, robots, now: 0, signal });
}

describe('the result of another worker', () => {
  test('with the text of a page is a page with its text', async () => {
    const scratch = new Map<string, unknown>();
    const ask = answering({ markdown: '# Herons', title: 'Herons', final_url: `${source}/b` });
    const { answer, shown } = await visit(ask, scratch);
    assert.deepEqual([answer?.status, answer?.url.href], [200, `${source}/b`]);
    assert.equal(shown?.content.mediaType, 'text/markdown');
    assert.equal(String(shown?.content.bytes), '# Herons');
    const never = () => Promise.reject(new Error('nobody is asked'));
    const parser = remoteParser(never, { scratch, here: never, isHere: () => false });
    const input = { bytes: new Uint8Array(), mediaType: 'text/markdown', source };
    const { title, markdown, language } = await parser(input, signal);
    assert.deepEqual([title, markdown, language], ['Herons', '# Herons', null]);
  });

  test('with the page itself is a page whose text still has to be extracted', async () => {
    const scratch = new Map<string, unknown>();
    const html = Buffer.from('<p>Herons</p>');
    const { shown } = await visit(answering({ media_type: 'text/html' }, html), scratch);
    assert.equal(shown?.content.mediaType, 'text/html');
    assert.equal(scratch.has('read'), false);
  });

  test('with vectors has them in the order of the texts', async () => {
    const embeddings = [
      [1, 0.5],
      [0.25, -1],
    ];
    const ask = answering({ embeddings, tokens: 7, cost_cents: 2 });
    const embedder = remoteEmbedder(ask, { model: 'm' });
    const paid: number[] = [];
    const keep = async (all: readonly { tokens: number }[]) => {
      paid.push(...all.map(({ tokens }) => tokens));
    };
    const embedded = await embedder.embed(['a', 'b'], signal, keep);
    assert.deepEqual(
      embedded.vectors.map((vector) => [...vector]),
      embeddings.map((vector) => [...toSignedBytes(vector)]),
    );
    assert.deepEqual([embedded.tokensIn, embedded.costCents, paid], [7, 2, [4, 3]]);
  });

  test('with entities may omit optional fields', async () => {
    const ask = answering({ entities: [{ kind: 'person', name: 'Ada' }] });
    const context = { signal } as Parameters<ReturnType<typeof remoteExtractor>['extract']>[1];
    const found = await remoteExtractor(ask).extract({ text: 'Ada', pieces: [] }, context);
    const ada = { kind: 'person', name: 'Ada', aliases: [], mentions: [] };
    assert.deepEqual(found.extraction, { entities: [ada], relations: [] });
  });

  const texts = { model: 'm', texts: ['a', 'b'] };
  const wrong: readonly [kind: string, value: Record<string, unknown>, says: RegExp][] = [
    ['visit', {}, /result\.markdown is missing/],
    ['visit', { markdown: ' ' }, /result\.markdown/],
    ['visit', { markdown: 'x', status: 404 }, /result\.status/],
    ['visit', { markdown: 'x', final_url: 'nowhere' }, /is invalid: .*Invalid URL/],
    ['visit', { markdown: 'x', title: 7 }, /result\.title has the wrong shape/],
    ['visit', { answer: { url: source } }, /result\.answer\.status/],
    ['parse', {}, /result\.markdown is missing/],
    ['embed', {}, /result\.embeddings is missing/],
    ['embed', { embeddings: [[1]] }, /each of the 2 texts/],
    ['embed', { embeddings: [[1], [1, 2]] }, /all of one length/],
    ['embed', { embeddings: [[1], ['x']] }, /result\.embeddings/],
    ['embed', { embeddings: [[1], [2]], model: 'other' }, /with m, not with other/],
    ['embed', { count: 2, tokensIn: 0, costCents: 0, paid: [] }, /the vectors of 2 texts/],
    ['entities', {}, /result\.entities/],
    ['entities', { entities: [{ kind: 'bird', name: 'x' }] }, /entities\[0\]\.kind/],
    ['complete', {}, /result\.text/],
  ];
  for (const [kind, value, says] of wrong) {
    test(`of ${kind} is refused for ${JSON.stringify(value)}`, () => {
      const request = kind === 'embed' ? texts : { source };
      const read = () => readResult({ kind, request }, { value });
      assert.throws(read, { code: 'bad_request', message: says });
    });
  }
});
