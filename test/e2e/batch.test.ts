import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { open } from '../../src/index.ts';
import { AzureServer } from '../support/batch/azure-server.ts';
import { until } from '../support/wait.ts';
import { openRunner } from './pawl-process.ts';

interface Shape {
  readonly task_id: string;
  readonly status: string;
  readonly actions: readonly string[];
}

describe('pawl batch', () => {
  test('submits, lists, shows and cancels tasks; a running Pawl completes them', async (t) => {
    const azure = new AzureServer();
    azure.pollsToGo = 1;
    await azure.start(t);
    const place = openRunner(t);
    const settings = { azure: { url: azure.server.url, key: 'key' } };
    const providers = place.write('providers.json', JSON.stringify(settings));
    const environment = { PAWL_BATCH_PROVIDERS: providers };
    const task = {
      task_type: 'transcription',
      provider: 'AZURE',
      urls: ['https://media.example/one.wav', 'nonsense'],
    };
    place.write('task.json', JSON.stringify(task));

    const submit = ['batch', 'submit', 'task.json', '--json'];
    const submitted = await place.run(submit, { environment });
    assert.equal(submitted.code, 0, submitted.stderr);
    const { task_id: id, status } = JSON.parse(submitted.stdout) as Shape;
    assert.equal(status, 'PENDING');
    const second = JSON.parse((await place.run(submit, { environment })).stdout) as Shape;
    assert.equal((await place.run(['batch', 'cancel', second.task_id])).code, 0);
    const listed = await place.readOne<{ items: Shape[] }>(['batch', 'list']);
    assert.deepEqual(
      listed.items.map((item) => item.status),
      ['CANCELED', 'PENDING'],
    );

    const unserved = 'no process has the settings of provider AZURE; set PAWL_BATCH_PROVIDERS';
    assert.ok((await place.run(['batch', 'show', id])).stdout.includes(unserved));
    assert.ok((await place.run(['doctor'])).stdout.includes(unserved));
    const early = await place.run(['batch', 'output', id]);
    assert.equal(early.code, 1);
    assert.match(early.stderr, /is pending: it has no output/);

    const pawl = await open({
      data: join(place.folder, '.pawl'),
      batchProviders: settings,
      batchPollMs: 50,
    });
    t.after(() => pawl.close());
    await until(async () => (await pawl.batchTask(id)).state === 'completed', {
      what: 'the task to be completed',
    });
    await pawl.close();
    const shown = await place.run(['batch', 'show', id.slice(0, 8)]);
    assert.match(shown.stdout, /completed/);
    assert.match(shown.stdout, /nonsense/);
    const output = await place.run(['batch', 'output', id.slice(0, 8)]);
    assert.equal(output.code, 0, output.stderr);
    const { transcriptions } = JSON.parse(output.stdout);
    assert.equal(transcriptions[0]?.text, 'words of https://media.example/one.wav');
    assert.equal(azure.server.count(/^POST /), 1);
  });

  test('reports errors of a file, a provider or an id', async (t) => {
    const place = openRunner(t);
    place.write('broken.json', '{');
    const task = { task_type: 'transcription', provider: 'AZURE', urls: ['https://a.example/'] };
    place.write('task.json', JSON.stringify(task));
    place.write('odd.json', '{"acme": {}}');
    place.write('short.json', '{"openai": {}}');
    const cases: readonly [string[], Record<string, string>, number, RegExp][] = [
      [['batch', 'submit', 'broken.json'], {}, 64, /is not JSON/],
      [['batch', 'submit', 'absent.json'], {}, 64, /cannot read/],
      [['batch', 'submit', 'task.json'], {}, 1, /no provider is configured for AZURE/],
      [['batch', 'show', 'abc'], {}, 1, /no batch task abc/],
      [['batch', '--state', 'asleep'], {}, 64, /--state cannot be asleep/],
      [
        ['batch', 'submit', 'task.json'],
        { PAWL_BATCH_PROVIDERS: 'odd.json' },
        64,
        /no batch provider acme/,
      ],
      [
        ['batch', 'submit', 'task.json'],
        { PAWL_BATCH_PROVIDERS: 'short.json' },
        64,
        /openai needs a text for key/,
      ],
    ];
    for (const [args, environment, code, message] of cases) {
      const finished = await place.run(args, { environment });
      assert.match(finished.stderr, message);
      assert.equal(finished.code, code, args.join(' '));
    }
  });
});
