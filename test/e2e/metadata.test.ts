/** Metadata from outside: the commands, and the service over HTTP. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Document, Hit } from '../../src/contract/schema/schema.ts';
import { open } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { findCandidates } from '../../src/store/search/metadata-index.ts';
import { openBench } from './api-client.ts';
import { openRunner } from './pawl-process.ts';

interface Found {
  readonly results: readonly Hit[];
}

describe('pawl ingest --meta and search --where', { concurrency: 2 }, () => {
  for (const way of ['on a store', 'with --url']) {
    test(`give documents metadata, and find them by it: ${way}`, async (t) => {
      const service = way === 'with --url' ? (await openBench(t)).service : undefined;
      const url = service ? ['--url', service.address] : [];
      const place = openRunner(t);
      place.write(
        'docs/cat.md',
        '---\ntags: [pet, soft]\nteam: none\n---\nThe cat has a harmonium.',
      );
      place.write('docs/dog.txt', 'The dog has a harmonium.');
      place.write('docs/dog.txt.meta.json', '{"year": 2020, "owner": "ann"}');
      const meta = ['team=ops', 'year=2025', 'level=a', 'level=b', 'code="007"'];
      const ingested = await place.run([
        ...['ingest', 'docs', '--corpus', 'notes', ...url],
        ...meta.flatMap((each) => ['--meta', each]),
      ]);
      assert.equal(ingested.code, 0, ingested.stderr);
      const given = { code: '007', level: ['a', 'b'], team: 'ops', year: 2025 };
      const find = async (where: string) => {
        const words = ['search', 'notes', 'harmonium', '--where', where, ...url];
        const { results } = await place.readOne<Found>(words);
        return results.map(({ source_url, metadata }) => ({ source_url, metadata }));
      };
      const [cat, ...others] = await find('tags = "pet" and team = "ops"');
      assert.match(cat?.source_url ?? '', /docs\/cat\.md$/);
      assert.deepEqual(cat?.metadata, { ...given, tags: ['pet', 'soft'] });
      assert.deepEqual(others, []);
      const [dog] = await find('not tags exists');
      assert.deepEqual(dog?.metadata, { ...given, owner: 'ann' });
      assert.deepEqual(await find('year < 2025'), []);
    });
  }

  test('refuse what they cannot mean, and say what to write', async (t) => {
    const place = openRunner(t);
    place.write('a.md', 'The cat has a harmonium.');
    const ingest = ['ingest', 'a.md', '--corpus', 'notes'];
    const unnamed = await place.run([...ingest, '--meta', 'ops']);
    assert.equal(unnamed.code, 64);
    assert.match(unnamed.stderr, /--meta needs KEY=VALUE, such as team=ops, not ops/);
    const wrong = await place.run([...ingest, '--meta', 'a b=1']);
    assert.deepEqual([wrong.code, /the key "a b" must have/.test(wrong.stderr)], [64, true]);
    assert.equal((await place.run([...ingest, '--meta', 'team=ops'])).code, 0);
    const search = (where: string) => place.run(['search', 'notes', 'cat', '--where', where]);
    assert.match((await search('team = ops')).stderr, /write "ops" \(column 8\)/);
    assert.match((await search('tema = "ops"')).stderr, /the closest one is team/);
  });
});

test('a kill leaves the old metadata or the new, and the same command completes it', async (t) => {
  const place = openRunner(t);
  const files = 12;
  for (let n = 0; n < files; n += 1) place.write(`docs/${n}.md`, `The cat has harmonium ${n}.`);
  const ingest = (year: number, failpoint?: string) => {
    const environment: Record<string, string> = failpoint ? { PAWL_FAILPOINT: failpoint } : {};
    const args = ['ingest', 'docs', '--corpus', 'notes', '--meta', `year=${year}`];
    return place.run(args, { environment });
  };
  /** How many documents have each year; each has the same in its row and in the index. */
  const years = async () => {
    const pawl = await open({ data: join(place.folder, '.pawl'), work: false });
    try {
      const documents = await pawl.documents('notes').all();
      const years = [...new Set(documents.map(({ metadata }) => metadata.year))].sort();
      for (const year of years) {
        const { store } = sessionOf(pawl);
        const where = { key: 'year', op: '=', values: [Number(year)] } as const;
        const indexed = await findCandidates(store, { caller: 'local', corpus: 'notes' }, where);
        const count = documents.filter(({ metadata }) => metadata.year === year).length;
        assert.equal(indexed?.size, count);
      }
      assert.ok(documents.every(({ generation }) => generation === 1));
      return { documents: documents.length, years };
    } finally {
      await pawl.close();
    }
  };
  assert.equal((await ingest(1, 'report.before-commit:kill:3')).signal, 'SIGKILL');
  await years();
  assert.equal((await ingest(1)).code, 0);
  assert.deepEqual(await years(), { documents: files, years: [1] });
  assert.equal((await ingest(2, 'report.before-commit:kill:1')).signal, 'SIGKILL');
  assert.equal((await years()).documents, files);
  assert.equal((await ingest(2)).code, 0);
  assert.deepEqual(await years(), { documents: files, years: [2] });
});

describe('metadata over HTTP', () => {
  test('comes with jobs and documents, and filters a search', async (t) => {
    const { ask, submit, ended } = await openBench(t);
    const job = await submit({
      corpus_name: 'notes',
      metadata: { team: 'ops', year: 2025 },
      documents: [
        { id: 'a', text: 'The cat has a harmonium.', metadata: { team: 'dev' } },
        { id: 'b', text: 'The dog has a harmonium.' },
      ],
    });
    await ended(job);
    const search = (where: unknown) =>
      ask<Found & { detail?: string }>('POST /search', {
        body: { corpus_name: 'notes', query: 'harmonium', filter: { where } },
      });
    const { body } = await search({ team: 'dev', year: { $gte: 2025 } });
    assert.deepEqual(
      body.results.map(({ source_url, metadata }) => [source_url, metadata]),
      [['inline:a', { team: 'dev', year: 2025 }]],
    );
    assert.equal((await search('team in ("ops", "dev")')).body.results.length, 2);
    for (const [where, reason] of [
      [{ team: { $like: 'o' } }, /where\.team\.\$like is not an operator/],
      ['team like "o"', /has no operator "like".*column 6/],
      ['tema = 1', /the closest one is team/],
      [['team'], /where/],
      ['', /where/],
    ] as const) {
      const { status, body: problem } = await search(where);
      assert.equal(status, 400, JSON.stringify(where));
      assert.match(problem.detail ?? '', reason);
    }
  });

  test('is refused where it has another form', async (t) => {
    const { ask } = await openBench(t, { work: false });
    const post = async (body: object) => {
      const asked = { body: { corpus_name: 'notes', ...body } };
      const answer = await ask<{ detail: string }>('POST /jobs', asked);
      return `${answer.status} ${answer.body.detail}`;
    };
    const documents = [{ id: 'a', text: 'A cat.', metadata: { team: { name: 'ops' } } }];
    assert.match(await post({ documents }), /^400 .*metadata/);
    const url = 'https://example.org/';
    assert.match(await post({ url, metadata: { 'a b': 1 } }), /^400 .*the key "a b" must have/);
    assert.match(await post({ url, metadata: 'team' }), /^400 .*metadata/);
  });

  test('comes with an upload: as a field for all files, and as sidecars', async (t) => {
    const { service, ask, ended } = await openBench(t);
    const upload = async (metadata: string, sidecar: string) => {
      const form = new FormData();
      form.set('corpus_name', 'files');
      form.set('metadata', metadata);
      form.append('file', new Blob(['The cat sleeps.']), 'x/cat.txt');
      form.append('file', new Blob([sidecar]), 'x/cat.txt.meta.json');
      const sent = { method: 'POST', body: form };
      const response = await fetch(`${service.address}/jobs/upload`, sent);
      return { status: response.status, body: (await response.json()) as Record<string, string> };
    };
    const { status, body } = await upload('{"team": "ops"}', '{"team": "x", "year": 2025}');
    assert.deepEqual([status, body.url_count], [202, 1]);
    await ended(body.job_id ?? '');
    const params = { name: 'files' };
    const listed = await ask<{ items: Document[] }>('GET /corpora/:name/documents', { params });
    const documents = listed.body.items.map(({ source_url, metadata }) => [source_url, metadata]);
    assert.deepEqual(documents, [['upload:x/cat.txt', { team: 'ops', year: 2025 }]]);
    const wrongField = await upload('{team}', '{}');
    assert.deepEqual([wrongField.status, wrongField.body.code], [400, 'bad_request']);
    assert.match(wrongField.body.detail ?? '', /the field metadata must be JSON/);
    const wrongFile = await upload('{}', '[]');
    assert.match(wrongFile.body.detail ?? '', /the sidecar x\/cat\.txt\.meta\.json must be/);
  });
});
