import assert from 'node:assert/strict';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { breaksOff, htmlPage } from '../../support/batch/provider-server.ts';
import type { BatchBench, BatchTest } from '../batch-suite.ts';
import { completions, recordings } from './submission.ts';

async function finish(bench: BatchBench, body: unknown, polls = 3): Promise<string> {
  const key = await bench.submit(body);
  await bench.deliver();
  await bench.poll(polls);
  return key;
}

async function counts(bench: BatchBench, key: string): Promise<unknown[]> {
  const { state, results_ok, results_failed } = await bench.task(key);
  return [state, results_ok, results_failed];
}

async function reasons(bench: BatchBench): Promise<string[]> {
  const events = await bench.store.events();
  return events.flatMap(({ kind, detail }) =>
    kind === 'batch_reply_odd' ? [String(detail?.reason)] : [],
  );
}

const line = (id: string, content: string): string =>
  JSON.stringify({
    custom_id: id,
    response: { status_code: 200, body: { choices: [{ message: { content } }] } },
  });

export const hostileTests: readonly BatchTest[] = [
  [
    'unordered, duplicate, foreign and torn results: each request has its own response, once',
    async (bench) => {
      bench.openai.rewrite = () =>
        [
          `\ufeff${line('three', 'third')}\r`,
          '',
          line('two', 'second'),
          line('two', 'again'),
          line('somebody-elses', 'stolen'),
          '{"custom_id": 7}',
          'this is not JSON',
          `${line('one', 'first').slice(0, 20)}`,
        ].join('\n');
      const key = await finish(bench, completions);
      assert.deepEqual(await counts(bench, key), ['partial_complete', 2, 1]);
      const output = (await bench.output(key)) as {
        'gpt-4o-mini': { completions: { id: string; text?: string; error?: string }[] };
      };
      const lines = output['gpt-4o-mini'].completions;
      assert.deepEqual(
        Object.fromEntries(lines.map(({ id, text, error }) => [id, text ?? error])),
        { three: 'third', two: 'second', one: 'no result was returned' },
      );
      const told = await reasons(bench);
      assert.ok(told.some((reason) => /somebody-elses, which was not requested/.test(reason)));
      assert.ok(told.some((reason) => /a second result for two/.test(reason)));
    },
  ],
  [
    'a line that is not UTF-8 is lost alone',
    async (bench) => {
      bench.openai.rewrite = (output) => {
        const bytes = Buffer.from(output);
        const place = bytes.indexOf('response to two');
        bytes[place] = 0xff;
        return bytes;
      };
      const key = await finish(bench, completions);
      assert.deepEqual(await counts(bench, key), ['partial_complete', 2, 1]);
    },
  ],
  [
    'an HTML page instead of a status counts as an error, and the next response is used',
    async (bench) => {
      bench.openai.server.trouble({ on: /^GET .*batch_1$/, reply: htmlPage });
      const key = await finish(bench, completions, 4);
      assert.deepEqual(await counts(bench, key), ['completed', 3, 0]);
      assert.equal((await bench.task(key)).poll_errors, 1);
    },
  ],
  [
    'an HTML page instead of the results has no results, and that is reported',
    async (bench) => {
      bench.openai.server.trouble({ on: /content$/, reply: htmlPage });
      const key = await finish(bench, completions);
      assert.deepEqual(await counts(bench, key), ['failed', 0, 3]);
      assert.match((await reasons(bench))[0] ?? '', /something else than a JSON object/);
    },
  ],
  [
    'a response about another job is not used',
    async (bench) => {
      const body = { id: 'batch_999', status: 'failed' };
      bench.openai.server.trouble({ on: /^GET .*batch_1$/, reply: { body } });
      const key = await finish(bench, completions, 4);
      assert.deepEqual(await counts(bench, key), ['completed', 3, 0]);
    },
  ],
  [
    'interrupted results are read again from the start at the next poll',
    async (bench) => {
      bench.openai.server.trouble({ on: /content$/, reply: breaksOff });
      const key = await finish(bench, completions, 4);
      assert.deepEqual(await counts(bench, key), ['completed', 3, 0]);
    },
  ],
  [
    'completed without any output is a failure that says so',
    async (bench) => {
      const body = { id: 'batch_1', status: 'completed' };
      bench.openai.server.trouble({ on: /^GET .*batch_1$/, reply: { body } });
      const key = await finish(bench, completions, 1);
      assert.deepEqual(await counts(bench, key), ['failed', 0, 3]);
      assert.match((await bench.task(key)).error ?? '', /completed without a result/);
    },
  ],
  [
    'an unknown status is polled on, and reported',
    async (bench) => {
      const body = { id: 'batch_1', status: 'meditating' };
      bench.openai.server.trouble({ on: /^GET .*batch_1$/, reply: { body } });
      const key = await finish(bench, completions, 4);
      assert.deepEqual(await counts(bench, key), ['completed', 3, 0]);
      assert.match((await reasons(bench))[0] ?? '', /meditating/);
    },
  ],
  [
    'a job that was deleted at the provider fails after its third poll',
    async (bench) => {
      const key = await finish(bench, recordings, 1);
      bench.azure.jobs.clear();
      await bench.poll(2);
      assert.equal((await bench.task(key)).state, 'in_progress');
      await bench.poll();
      assert.equal((await bench.task(key)).state, 'failed');
    },
  ],
  [
    'an invalid vector fails its line alone',
    async (bench) => {
      const odd: Record<string, readonly unknown[]> = {
        a: ['x'],
        b: [0, 0, 0],
        c: [null, 1],
        d: [],
      };
      bench.openai.answer = ({ custom_id }) => ({ vector: odd[custom_id] ?? [0.5, -0.5] });
      const requests = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ custom_id: id, input: 'text' }));
      const models = ['text-embedding-3-small'];
      const key = await finish(bench, { task_type: 'embedding', models, requests });
      assert.deepEqual(await counts(bench, key), ['partial_complete', 1, 4]);
    },
  ],
  [
    'an endless result is read up to its limit, and what came before it is kept',
    async (bench) => {
      bench.openai.server.trouble({
        on: /content$/,
        reply: (response) => {
          response.writeHead(200);
          response.write(`${line('one', 'first')}\n`);
          const noise = Buffer.alloc(1024 * 1024, 'x');
          const more = (): void => {
            while (!response.destroyed && response.write(noise));
            if (!response.destroyed) response.once('drain', more);
          };
          more();
        },
      });
      const before = process.memoryUsage().rss;
      const key = await finish(bench, completions);
      const grown = process.memoryUsage().rss - before;
      assert.deepEqual(await counts(bench, key), ['partial_complete', 1, 2]);
      assert.match(
        (await reasons(bench)).join(),
        /more than \d+ bytes of no use: the rest was not read/,
      );
      assert.ok(grown < limits.batch.resultBytesMax, `grew by ${grown} bytes`);
    },
  ],
  [
    'a transcript that is not JSON is lost alone',
    async (bench) => {
      bench.azure.server.trouble({ on: /^GET \/content\/t-1\/0$/, reply: htmlPage });
      const key = await finish(bench, recordings);
      assert.deepEqual(await counts(bench, key), ['partial_complete', 1, 1]);
    },
  ],
  [
    'the key is not sent to another host of a provider',
    async (bench) => {
      const body = {
        self: `${bench.azure.server.url}/speechtotext/transcriptions/t-1`,
        status: 'Succeeded',
        links: { files: `${bench.openai.server.url}/steal` },
      };
      bench.azure.server.trouble({ on: /^GET .*t-1$/, reply: { body } });
      const key = await finish(bench, recordings, 4);
      assert.equal(bench.openai.server.calls.length, 0);
      assert.equal((await bench.task(key)).state, 'completed');
    },
  ],
];
