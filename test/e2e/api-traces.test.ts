/** Spans as an OpenTelemetry collector receives them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCompletionServer, withContent, withStatus } from '../support/completion-server.ts';
import { startCollector } from '../support/span-collector.ts';
import { makeLatch } from '../support/test-world.ts';
import { until } from '../support/wait.ts';
import { type Bench, openBench } from './api-client.ts';

/** Steps are traced when they are logged. A stream can end with the job before that. */
async function untilPublished({ lines }: Bench, id: string): Promise<void> {
  const isEnd = (line: string): boolean => {
    const { job_id, msg } = JSON.parse(line);
    return job_id === id && msg === 'job_succeeded';
  };
  await until(() => lines.some(isEnd), { what: 'the end of the job in the log' });
}

test('requests, steps and model calls are sent to a collector', async (t) => {
  const { spans, paths, otlpUrl } = await startCollector(t);
  const bench = await openBench(t, { otlpUrl });
  const traceId = 'a'.repeat(32);
  const headers = { traceparent: `00-${traceId}-${'b'.repeat(16)}-01` };
  const documents = [
    { id: 'x', text: 'A heron waits.' },
    { id: 'y', text: '' },
  ];
  const id = await bench.submit({ corpus_name: 'a', documents }, headers);
  await bench.ended(id);
  await untilPublished(bench, id);
  await bench.service.close();
  assert.deepEqual([...paths], ['/v1/traces']);
  const request = spans.find(({ name }) => name === 'POST /jobs');
  assert.deepEqual(
    [request?.traceId, request?.parentSpanId, request?.kind],
    [traceId, 'b'.repeat(16), 2],
  );
  const steps = spans.filter((span) => span.traceId === id.replaceAll('-', ''));
  const names = new Set(steps.map(({ name }) => name));
  for (const step of ['fetched', 'chunked', 'embedded', 'indexed', 'done']) {
    assert.ok(names.has(`step ${step}`), step);
  }
  const failed = steps.filter(({ status }) => status.code === 2);
  assert.deepEqual(
    failed.map(({ name }) => name),
    ['step fetched'],
  );
  assert.equal(new Set(steps.map(({ spanId }) => spanId)).size, steps.length);
  assert.ok(spans.some(({ name, kind }) => name === 'embeddings' && kind === 3));
  for (const { startTimeUnixNano: start, endTimeUnixNano: end } of spans) {
    assert.match(start, /^\d{19}$/);
    assert.ok(BigInt(end) >= BigInt(start));
  }
  assert.ok(!JSON.stringify(spans).includes('heron'));
});

test('requests to the entity model are sent, too', async (t) => {
  const { spans, otlpUrl } = await startCollector(t);
  const model = await startCompletionServer(withContent('{"entities":[]}'));
  t.after(() => model.close());
  const extractor = { model: 'finder', url: model.url, key: 'a-key' };
  const bench = await openBench(t, { otlpUrl, extractor });
  const submit = (text: string) => bench.submit({ corpus_name: 'a', documents: [{ text }] });
  await bench.ended(await submit('Ada Lovelace saw a heron.'));
  model.answer = withStatus(401);
  await bench.ended(await submit('Grace Hopper saw a moth.'));
  await bench.service.close();
  const chats = spans.filter(({ name }) => name === 'chat');
  assert.deepEqual(
    chats.map(({ kind, status }) => [kind, status.code === 2]),
    [
      [3, false],
      [3, true],
    ],
  );
  const [asked] = chats;
  const attributes = new Map(asked?.attributes.map(({ key, value }) => [key, value]));
  assert.deepEqual(attributes.get('gen_ai.request.model'), { stringValue: 'finder' });
  assert.deepEqual(attributes.get('gen_ai.usage.output_tokens'), { intValue: '200' });
  assert.ok(!/Lovelace|heron|a-key/.test(JSON.stringify(spans)));
});

test('a step that is committed while the service stops is logged and traced', async (t) => {
  const { spans, otlpUrl } = await startCollector(t);
  const [committing, stopping] = [makeLatch(), makeLatch()];
  const effect = async (): Promise<void> => {
    committing.open();
    await stopping.opened;
  };
  const run = async () => ({ effect });
  const steps = [{ add: 'rated', bit: 16, version: '1', run }];
  const bench = await openBench(t, { otlpUrl, steps });
  await bench.submit({ corpus_name: 'a', documents: [{ text: 'A heron waits.' }] });
  await committing.opened;
  const closed = bench.service.close();
  const isAway = (): Promise<boolean> =>
    fetch(bench.service.address).then(
      () => false,
      () => true,
    );
  await until(isAway, { what: 'the server to close' });
  stopping.open();
  await closed;
  const logged = bench.lines.map((line) => JSON.parse(line));
  assert.ok(logged.some(({ msg, step }) => msg === 'step_completed' && step === 'rated'));
  assert.ok(spans.some(({ name }) => name === 'step rated'));
});

test('an unreachable collector causes one line in the log, and nothing else', async (t) => {
  const errors: string[] = [];
  const onError = (what: string): void => void errors.push(what);
  const bench = await openBench(t, { otlpUrl: 'http://127.0.0.1:1', onError });
  const job = await bench.ended(
    await bench.submit({ corpus_name: 'a', documents: [{ text: 'A heron.' }] }),
  );
  assert.equal(job.status, 'done');
  await bench.service.close();
  assert.deepEqual(errors, ['traces']);
});
