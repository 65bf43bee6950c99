/** The command `pawl`, from files to search results. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { open } from '../../src/index.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import { type CommandRunner, openRunner } from './pawl-process.ts';

const ingest = ['ingest', 'docs', '--corpus', 'notes'];

interface Result {
  readonly text: string;
  readonly source_url: string;
}

interface List {
  readonly items: readonly Record<string, unknown>[];
}

async function found(place: CommandRunner, query: string): Promise<readonly Result[]> {
  const answer = await place.readOne<{ results: Result[] }>([
    'search',
    'notes',
    query,
    '--mode',
    'keyword',
  ]);
  return answer.results;
}

describe('pawl ingest and search', { concurrency: 2 }, () => {
  test('finds ingested text, reports unchanged files, and drops replaced text', async (t) => {
    const place = openRunner(t);
    place.write('docs/cat.md', '# The cat\n\nThe cat sleeps on the harmonium.\n');
    place.write('docs/deep/dog.html', '<title>The dog</title><p>The dog guards the quince tree.');
    place.write('docs/.hidden/secret.md', 'The parrot knows.');
    place.write('docs/node_modules/package/readme.md', 'The parrot knows.');

    const first = await place.run(ingest);
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /2 documents indexed/);
    const shown = await place.run(['search', 'notes', 'harmonium']);
    assert.match(shown.stdout, /The cat +\d+\.\d+\n +docs\/cat\.md\n +The cat sleeps/);
    assert.match(
      (await found(place, 'quince'))[0]?.text ?? '',
      /The dog guards the quince tree\.$/,
    );
    assert.deepEqual(await found(place, 'parrot'), []);

    const second = await place.run(ingest);
    assert.equal(second.code, 0);
    assert.match(second.stdout, /2 documents unchanged: nothing to do/);

    place.write('docs/cat.md', '# The cat\n\nThe cat sleeps on the bagpipes.\n');
    const third = await place.run(ingest);
    assert.match(third.stdout, /1 document indexed · 1 unchanged/);
    assert.deepEqual(await found(place, 'harmonium'), []);
    assert.equal((await found(place, 'bagpipes')).length, 1);
  });

  test('accepts files, globs and stdin, each document once', async (t) => {
    const place = openRunner(t);
    place.write('docs/one.md', 'A heron.');
    place.write('docs/two.md', 'A bittern.');
    place.write('docs/three.txt', 'A stork.');
    const args = ['ingest', 'docs/*.md', 'docs/one.md', '-', '--corpus', 'notes'];
    const { code, stdout, stderr } = await place.run(args, { input: 'A spoonbill.' });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /3 documents indexed/);
    assert.equal((await found(place, 'spoonbill')).length, 1);
    assert.deepEqual(await found(place, 'stork'), []);
  });

  test('puts unreadable files into the inbox, and indexes the rest', async (t) => {
    const place = openRunner(t);
    place.write('docs/good.md', 'A heron.');
    place.write('docs/binary.png', Uint8Array.from([137, 80, 78, 71, 0, 1, 2, 3]));
    place.write('docs/empty.txt', '');
    place.write('docs/cut.json', '{"a": ');
    const { code, stdout, stderr } = await place.run(ingest);
    assert.equal(code, 2, stderr);
    assert.match(stdout, /1 document indexed · 3 failed/);
    assert.match(stdout, /unsupported_mime +1 +\S/);
    assert.match(stdout, /pawl jobs retry [0-9a-f]{8}/);
    assert.match(stderr, /failed: .*empty\.txt has no bytes \(empty_source\)/);
    assert.match(stderr, /failed: \S+cut\.json: the JSON is cut off \(parse_error_strict\)/);
    assert.equal((await found(place, 'heron')).length, 1);
    // Each error message, and not only their common cause.
    const listed = await place.run(['inbox']);
    assert.match(listed.stdout, /cut\.json {2}.*\n +the JSON is cut off\n/);
    assert.match(listed.stdout, /empty\.txt {2}.*\n +has no bytes\n/);
    const why = await place.run(['why', 'docs/cut.json', '--corpus', 'notes']);
    assert.match(why.stdout, /^said +the JSON is cut off$/m);

    interface Inbox {
      readonly causes: readonly { readonly cause: string }[];
      readonly items: readonly { readonly item_id: number; readonly error: { code: string } }[];
    }
    const { causes, items } = await place.readOne<Inbox>(['inbox']);
    assert.deepEqual(causes.map(({ cause }) => cause).sort(), [
      ...['empty_source', 'parse_error_strict', 'unsupported_mime'],
    ]);
    const binary = items.find(({ error }) => error.code === 'unsupported_mime')?.item_id;
    const shown = await place.run(['inbox', 'show', String(binary)]);
    assert.match(shown.stdout, /at step +fetched \(scraping\), attempt 1/);

    place.write('docs/empty.txt', 'A bittern.');
    const retried = await place.run(['inbox', 'retry', '--cause', 'empty_source']);
    assert.equal(retried.code, 2, retried.stderr);
    assert.equal((await found(place, 'bittern')).length, 1);

    assert.match(
      (await place.run(['inbox', 'discard', '--all', '--yes'])).stdout,
      /discarded 2 documents/,
    );
    assert.match((await place.run(['inbox'])).stdout, /the inbox is empty/);
  });
});

describe('pawl with --json', () => {
  test('uses the field names of the HTTP API', async (t) => {
    const place = openRunner(t);
    place.write('docs/cat.md', '# The cat\n\nThe cat sleeps on the harmonium.\n');
    const lines = await place.read(ingest);
    const [accepted] = lines;
    const ended = lines.at(-1);
    assert.equal(accepted?.kind, 'job_accepted');
    const sequence = lines.slice(0, -1).map(({ seq }) => seq as number);
    assert.deepEqual(
      sequence,
      sequence.toSorted((one, other) => one - other),
    );
    assert.deepEqual(pick(ended, ['state', 'status', 'items_total', 'items_done', 'causes']), {
      state: 'succeeded',
      status: 'done',
      items_total: 1,
      items_done: 1,
      causes: [],
    });

    const id = String(accepted?.job_id);
    const list = await place.readOne<List>(['jobs']);
    assert.deepEqual(Object.keys(list), ['items', 'next_cursor']);
    const [job] = await place.read(['jobs', 'show', id.slice(0, 8)]);
    assert.deepEqual(pick(job, ['job_id', 'corpus_name', 'actions']), {
      job_id: id,
      corpus_name: 'notes',
      actions: [],
    });
    assert.deepEqual(await place.read(['jobs', 'events', id]), lines.slice(0, -1));

    const answer = await place.readOne<{ results: Result[] }>(['search', 'notes', 'harmonium']);
    assert.deepEqual(Object.keys(answer), [
      ...['results', 'query_ms', 'total', 'facets', 'did_you_mean', 'reranked'],
    ]);
    assert.deepEqual(Object.keys(answer.results[0] ?? {}), [
      ...['chunk_id', 'corpus_name', 'text', 'score', 'relevance', 'near', 'source_url'],
      ...['document_id', 'title', 'heading', 'page', 'ordinal', 'highlights', 'similar'],
      ...['metadata', 'more_in_document'],
    ]);

    const corpora = await place.readOne<List>(['corpora']);
    assert.deepEqual(pick(corpora.items[0], ['name', 'documents', 'chunks']), {
      name: 'notes',
      documents: 1,
      chunks: 1,
    });
    const findings = await place.read(['doctor']);
    assert.deepEqual([...new Set(findings.map(({ verdict }) => verdict))], ['ok']);
    const [diagram] = await place.read(['diagram', 'job']);
    assert.match(String(diagram?.mermaid), /^stateDiagram-v2/);
  });
});

const page = `<html><head><meta name="author" content="Ada Lovelace"><title>Cats</title></head>
<body><article><h1>Cats</h1><p>${'The cat sleeps on the harmonium. '.repeat(12)}</p></article>
</body></html>`;

describe('pawl corpora', () => {
  test('lists all corpora over several pages', async (t) => {
    const place = openRunner(t);
    const pawl = await open({ data: join(place.folder, '.pawl'), work: false });
    const total = limits.request.pageItemsMax + 1;
    for (let at = 0; at < total; at += 1) {
      await pawl.ingest([{ id: 'd', text: 'A heron.' }], { corpus: `corpus-${at}` });
    }
    await pawl.close();
    const { items } = await place.readOne<List>(['corpora']);
    assert.equal(new Set(items.map(({ name }) => name)).size, total);
    assert.match((await place.run(['corpora', 'show', 'corpus-200'])).stdout, /corpus-200/);
    const unknown = await place.run(['corpora', 'show', 'corpus-201']);
    assert.deepEqual([unknown.code, /corpus_unknown/.test(unknown.stderr)], [1, true]);
  });

  test('lists, shows and deletes', async (t) => {
    const place = openRunner(t);
    place.write('docs/cat.md', '# The cat\n\nThe cat sleeps on the harmonium.\n');
    await place.run(ingest);
    assert.match((await place.run(['corpora'])).stdout, /notes +1 +1 /);
    assert.match((await place.run(['corpora', 'documents', 'notes'])).stdout, /The cat .*cat\.md/);
    place.write('docs/cat.html', page);
    await place.run(ingest);
    const documents = await place.read(['corpora', 'documents', 'notes']);
    const told = documents.find(({ source_url }) => String(source_url).endsWith('.html'))?.meta;
    assert.equal((told as Record<string, unknown>).author, 'Ada Lovelace');
    const deleted = await place.run(['corpora', 'delete', 'notes', '--yes']);
    assert.match(deleted.stdout, /deleted notes with 2 documents/);
    const gone = await place.run(['search', 'notes', 'harmonium']);
    assert.deepEqual([gone.code, /corpus_unknown/.test(gone.stderr)], [1, true]);
    assert.equal((await place.run(ingest)).code, 0);
    assert.equal((await found(place, 'harmonium')).length, 2);
  });
});

function pick(shape: Record<string, unknown> | undefined, names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, shape?.[name]]));
}
