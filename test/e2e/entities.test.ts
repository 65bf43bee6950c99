/** From documents to their entities, by rules and by a model. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { open } from '../../src/index.ts';
import {
  type CompletionServer,
  startCompletionServer,
  withContent,
  withStatus,
} from '../support/completion-server.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { openRunner } from './pawl-process.ts';

const text = 'We saw Ada Lovelace in London. Later Lovelace wrote to Charles Babbage in London.';

interface Shown {
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

describe('pawl corpora entities', () => {
  test('lists entities of a corpus, by kind, by document and by related entity', async (t) => {
    const place = openRunner(t);
    place.write('docs/ada.md', text);
    place.write('docs/bob.md', 'A letter came from London on 10 July 1843.');
    await place.run(['ingest', 'docs', '--corpus', 'notes']);
    const list = ['corpora', 'entities', 'notes'];
    const { items } = await place.readOne<Shown>(list);
    assert.deepEqual(items[0], { kind: 'location', name: 'London', mentions: 3, documents: 2 });
    const dates = await place.readOne<Shown>([...list, '--kind', 'date']);
    assert.deepEqual(
      dates.items.map(({ name }) => name),
      ['1843-07-10'],
    );
    const company = await place.readOne<Shown>([...list, '--with', 'Ada Lovelace']);
    assert.deepEqual(
      company.items.map(({ name, passages }) => [name, passages]),
      [
        ['London', 2],
        ['Charles Babbage', 1],
      ],
    );
    const shown = await place.run([...list, '--kind', 'person']);
    assert.match(shown.stdout, /person +Ada Lovelace +2 +1/);
    const wrong = await place.run([...list, '--kind', 'wizard']);
    assert.equal(wrong.code, 64);
    assert.match(wrong.stderr, /Use --kind person, /);
  });
});

describe('with a model as extractor', () => {
  let server: CompletionServer;
  before(async () => {
    server = await startCompletionServer(withContent('{"entities":[]}'));
  });
  after(() => server.close());

  const setup = async (t: Parameters<typeof temporaryDirectory>[0]) => {
    const extractor = { model: 'tiny', url: server.url };
    const pawl = await open({ data: temporaryDirectory(t), extractor });
    t.after(() => pawl.close());
    return pawl;
  };

  test('its entities are stored with positions, and its tokens are in the history', async (t) => {
    const entities = [
      { name: 'Ada Lovelace', kind: 'person', mentions: ['Ada Lovelace', 'Lovelace'] },
      { name: 'Elvis Presley', kind: 'person', mentions: ['Elvis'] },
    ];
    server.answer = withContent(JSON.stringify({ entities }));
    const pawl = await setup(t);
    const job = await pawl.ingest([{ id: 'ada', text }], { corpus: 'notes' });
    const events = [];
    for await (const event of job.events()) events.push(event);
    const [document] = await pawl.documents('notes').all();
    const found = await pawl.documentEntities(document?.documentId ?? '').all();
    assert.deepEqual(
      found.map(({ name, places }) => [name, places.map((at) => text.slice(at.start, at.end))]),
      [['Ada Lovelace', ['Ada Lovelace', 'Lovelace']]],
    );
    const step = events.find(
      (event) => event.kind === 'step_completed' && event.step === 'entity_extracted',
    );
    const { model, tokens_in, tokens_out, mentions_dropped } = step?.detail ?? {};
    assert.deepEqual([model, tokens_in, tokens_out, mentions_dropped], ['tiny', 1000, 200, 1]);
  });

  test('an invalid response ends in the inbox, and is not paid for again', async (t) => {
    server.answer = withContent('{"entities":"none"}');
    const pawl = await setup(t);
    const before = server.calls.length;
    const job = await pawl.ingest([{ id: 'ada', text }], { corpus: 'notes' });
    await job.wait();
    const causes = (await job.summary()).causes.map(({ cause, count }) => [cause, count]);
    assert.deepEqual(causes, [['step_output_invalid', 1]]);
    assert.equal(server.calls.length - before, 1);
  });

  test('a provider that fails once is called again', async (t) => {
    const well = withContent('{"entities":[]}');
    server.answer = (...call) => {
      server.answer = well;
      withStatus(500)(...call);
    };
    const pawl = await setup(t);
    const before = server.calls.length;
    const job = await pawl.ingest([{ id: 'ada', text }], { corpus: 'notes' });
    assert.equal((await job.wait()).itemsDone, 1);
    assert.equal(server.calls.length - before, 2);
  });

  test('a model without an address and without a key is refused immediately', async (t) => {
    const options = { data: temporaryDirectory(t), extractor: { model: 'tiny' } };
    await assert.rejects(open(options), { code: 'usage_error', message: /PAWL_EXTRACTOR_KEY/ });
  });
});
