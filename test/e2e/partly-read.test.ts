/** Partly read documents: counted, listed and explained, locally and over HTTP. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Corpus, Document, Why } from '../../src/contract/schema/schema.ts';
import { openBench } from './api-client.ts';
import { type CommandRunner, openRunner } from './pawl-process.ts';

const warning = '3 of 4 lines were not read: not valid JSON.';

function writeFiles(place: CommandRunner): void {
  place.write('docs/whole.md', '# The cat\n\nThe cat sleeps on the harmonium.\n');
  place.write('docs/events.ndjson', '{"a":"A heron."}\n{"a":\n{\nnone\n');
}

describe('partly read documents', () => {
  test('are reported by ingest, and listed by corpora documents', async (t) => {
    const place = openRunner(t);
    writeFiles(place);
    const ingest = ['ingest', 'docs', '--corpus', 'notes'];
    const { stdout } = await place.run(ingest);
    const hint =
      /^1 document was only partly read: `pawl corpora documents notes --partly-read` lists/m;
    assert.match(stdout, hint);
    const listed = await place.run(['corpora', 'documents', 'notes', '--partly-read']);
    assert.match(listed.stdout, /^ *25 % +\S*events\.ndjson +3 of 4 lines were not read/m);
    assert.doesNotMatch(listed.stdout, /whole\.md/);
    const rows = await place.read(['corpora', 'documents', 'notes', '--partly-read']);
    assert.deepEqual(
      rows.map(({ kept_share, warnings }) => [kept_share, warnings]),
      [[0.25, [warning]]],
    );
    assert.match((await place.run(['corpora', 'show', 'notes'])).stdout, /partly read +1\n/);
    place.write('docs/events.ndjson', '{"a":"A heron."}\n');
    const again = (await place.read(ingest)).at(-1);
    assert.equal(again?.documents_partly_read, 0);
  });

  test('are filtered and counted by the service', async (t) => {
    const { service, ask } = await openBench(t);
    const place = openRunner(t);
    writeFiles(place);
    const url = ['--url', service.address];
    const job = (await place.read(['ingest', 'docs', '--corpus', 'notes', ...url])).at(-1);
    assert.equal(job?.documents_partly_read, 1);
    const params = { name: 'notes' };
    const corpus = (await ask<Corpus>('GET /corpora/:name', { params })).body;
    assert.deepEqual([corpus.documents, corpus.documents_partly_read], [2, 1]);
    const listed = async (query: Record<string, string>): Promise<readonly Document[]> => {
      const route = 'GET /corpora/:name/documents';
      return (await ask<{ items: Document[] }>(route, { params, query })).body.items;
    };
    assert.equal((await listed({ partly_read: 'false' })).length, 2);
    const [document, ...others] = await listed({ partly_read: 'true' });
    assert.deepEqual([document?.kept_share, document?.warnings, others], [0.25, [warning], []]);
    const one = { params: { id: document?.document_id ?? '' } };
    assert.deepEqual((await ask<Document>('GET /documents/:id', one)).body, document);
    const query = { corpus_name: 'notes', url: document?.source_url ?? '' };
    const why = (await ask<Why>('GET /why', { query })).body;
    assert.match(why.explanation, /It was only partly read: 25 % of its text was kept\./);
    assert.deepEqual(why.document?.warnings, [warning]);
    const wrong = { params, query: { partly_read: 'maybe' } };
    assert.equal((await ask('GET /corpora/:name/documents', wrong)).status, 400);
    const shown = await place.run(['corpora', 'documents', 'notes', '--partly-read', ...url]);
    assert.match(shown.stdout, /25 % +\S*events\.ndjson +3 of 4 lines/);
  });
});
