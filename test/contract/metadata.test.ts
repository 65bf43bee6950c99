/** The metadata of documents: where it comes from, and what becomes of it. On both databases. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type IngestOptions, open, type Pawl, type SourceInput } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { writeMail } from '../support/mail-writer.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { pagesOf, serveWeb } from '../support/web-server.ts';

const corpus = 'notes';

let postgres: Postgres;
before(async () => {
  postgres = await startPostgres({ durable: false });
});
after(() => postgres.stop());

async function setup(t: Cleanup, name: string, allowHosts: readonly string[] = []) {
  const database = name === 'postgres' ? await postgres.createDatabase() : undefined;
  const pawl = await open({ data: temporaryDirectory(t), database, allowHosts });
  t.after(() => pawl.close());
  const ingest = async (inputs: readonly SourceInput[], options: Partial<IngestOptions> = {}) => {
    const job = await pawl.ingest(inputs, { corpus, ...options });
    await job.wait();
    return job;
  };
  return { pawl, ingest, facts: () => factsOf(pawl) };
}

/** Of each document its generation and its metadata, by source. */
async function factsOf(pawl: Pawl): Promise<Record<string, unknown>> {
  const documents = await pawl.documents(corpus).all();
  const sorted = documents.toSorted((a, b) => (a.sourceUrl < b.sourceUrl ? -1 : 1));
  return Object.fromEntries(
    sorted.map((each) => [each.sourceUrl, [each.generation, each.metadata]]),
  );
}

async function rowsOf(pawl: Pawl): Promise<string[]> {
  const text = 'SELECT key, kind, number, text FROM document_metadata ORDER BY key, number, text';
  const rows = await sessionOf(pawl).store.run<{ key: string; number: number; text: string }>({
    text,
  });
  return rows.map((row) => `${row.key}=${row.text === '' ? row.number : row.text}`);
}

const heron = { id: 'heron', text: 'The heron waits in the reeds.' };

for (const name of ['sqlite', 'postgres']) {
  describe(`metadata on ${name}`, () => {
    test('comes back with documents and hits, with its types', async (t) => {
      const { pawl, ingest } = await setup(t, name);
      const metadata = { team: 'ops', year: 2025.5, draft: false, tags: ['b', 'a'] };
      await ingest([{ ...heron, metadata }]);
      const [hit] = await pawl.search(corpus, 'heron');
      assert.deepEqual(hit?.metadata, metadata);
      const { items } = await sessionOf(pawl).ask('GET /corpora/:name/documents', {
        params: { name: corpus },
        query: {},
      });
      assert.deepEqual(items[0]?.metadata, metadata);
      const id = items[0]?.document_id ?? '';
      const document = await sessionOf(pawl).ask('GET /documents/:id', { params: { id } });
      assert.deepEqual(document.metadata, metadata);
      const body = { corpus_name: corpus, query: 'heron' };
      const { results } = await sessionOf(pawl).ask('POST /search', { body });
      assert.deepEqual(results[0]?.metadata, metadata);
    });

    test('changes without a new generation, and with an event', async (t) => {
      const { pawl, ingest, facts } = await setup(t, name);
      await ingest([{ ...heron, metadata: { team: 'ops', tags: ['a', 'b'] } }]);
      const job = await ingest([{ ...heron, metadata: { team: 'dev' } }]);
      assert.deepEqual(await facts(), { 'inline:heron': [1, { team: 'dev' }] });
      assert.deepEqual(await rowsOf(pawl), ['team=dev']);
      const kinds = [];
      for await (const { kind } of job.events()) kinds.push(kind);
      assert.ok(kinds.includes('metadata_changed'), kinds.join(' '));
      assert.ok(!kinds.includes('generation_flipped'), kinds.join(' '));
      const same = await ingest([{ ...heron, metadata: { team: 'dev' } }]);
      for await (const { kind } of same.events()) assert.notEqual(kind, 'metadata_changed');
    });

    test('is that of the newest submission, also if it has none', async (t) => {
      const { pawl, ingest, facts } = await setup(t, name);
      await ingest([{ ...heron, metadata: { team: 'ops' } }]);
      await ingest([{ id: 'heron', text: 'The heron has left.', metadata: { year: 2025 } }]);
      assert.deepEqual(await facts(), { 'inline:heron': [2, { year: 2025 }] });
      assert.deepEqual(await rowsOf(pawl), ['year=2025']);
      await ingest([{ id: 'heron', text: 'The heron has left.' }]);
      assert.deepEqual(await facts(), { 'inline:heron': [2, {}] });
      assert.deepEqual(await rowsOf(pawl), []);
    });

    test('is deleted with its document', async (t) => {
      const { pawl, ingest } = await setup(t, name);
      await ingest([{ ...heron, metadata: { team: 'ops' } }]);
      const [document] = await pawl.documents(corpus).all();
      await pawl.deleteDocument(document?.documentId ?? '');
      assert.deepEqual(await rowsOf(pawl), []);
    });

    test('of the request wins over the sidecar, and that over the front matter', async (t) => {
      const { ingest, facts } = await setup(t, name);
      const path = join(temporaryDirectory(t), 'a.md');
      const text = (year: number) =>
        `---\nteam: docs\nyear: ${year}\ntags: [x, y]\nowner:\n  name: ann\n---\n# A\n\nText.`;
      writeFileSync(path, text(2023));
      writeFileSync(`${path}.meta.json`, '{"year": 2024, "level": 1}');
      await ingest([path], { metadata: { level: 2 } });
      const expected = { level: 2, tags: ['x', 'y'], team: 'docs', year: 2024 };
      assert.deepEqual(await facts(), { [path]: [1, expected] });
      writeFileSync(`${path}.meta.json`, '{}');
      writeFileSync(path, text(2022));
      await ingest([path]);
      const { level: _, ...rest } = expected;
      assert.deepEqual(await facts(), { [path]: [1, { ...rest, year: 2022 }] });
    });

    test('of a crawl is that of all its pages, and stays when nothing has changed', async (t) => {
      const link = (to: string) => `<p>Herons wait in the reeds.</p><a href="${to}">next</a>`;
      const site = await serveWeb(t, pagesOf({ '/': link('/b'), '/b': link('/c'), '/c': 'End.' }));
      const { ingest, facts } = await setup(t, name, [site.host]);
      const at = (path: string) => `${site.origin}${path}`;
      await ingest([at('/')], { crawl: {}, metadata: { team: 'web' } });
      const web = [1, { team: 'web' }];
      assert.deepEqual(await facts(), { [at('/')]: web, [at('/b')]: web, [at('/c')]: web });
      await ingest([at('/b')], { metadata: { team: 'ops' } });
      assert.deepEqual((await facts())[at('/b')], [1, { team: 'ops' }]);
    });

    test('of a page that has not changed since its last visit changes alone', async (t) => {
      const site = await serveWeb(t, (request, response) => {
        const isKnown = request.headers['if-none-match'] === '"1"';
        const headers = { ETag: '"1"', 'Content-Type': 'text/markdown; charset=utf-8' };
        response.writeHead(isKnown ? 304 : request.url === '/a.md' ? 200 : 404, headers);
        response.end(isKnown ? undefined : '---\nlevel: 3\n---\n# Herons\n\nThey wait in reeds.');
      });
      const { ingest, facts } = await setup(t, name, [site.host]);
      const source = `${site.origin}/a.md`;
      await ingest([source], { metadata: { team: 'web' } });
      assert.deepEqual(await facts(), { [source]: [1, { level: 3, team: 'web' }] });
      await ingest([source], { metadata: { team: 'ops' } });
      assert.deepEqual(await facts(), { [source]: [1, { level: 3, team: 'ops' }] });
      await ingest([source]);
      assert.deepEqual(await facts(), { [source]: [1, { level: 3 }] });
    });

    test('of a mail is that of its files, also after a change', async (t) => {
      const { ingest, facts } = await setup(t, name);
      const path = join(temporaryDirectory(t), 'a.eml');
      const content = '---\nlevel: 3\n---\n# Herons\n\nThey wait in reeds.';
      const file = { name: 'herons.md', type: 'text/markdown', content };
      writeFileSync(path, writeMail({ subject: 'Herons', text: 'See the file.', files: [file] }));
      for (const team of ['web', 'ops']) {
        await ingest([path], { metadata: { team } });
        assert.deepEqual(await facts(), {
          [path]: [1, { team }],
          [`${path}#attachment/herons.md`]: [1, { level: 3, team }],
        });
      }
    });

    test('is refused by its key, and nothing is submitted', async (t) => {
      const { pawl, ingest } = await setup(t, name);
      const wrong = { ...heron, metadata: { team: null } as never };
      await assert.rejects(ingest([wrong]), /metadata\.team must be either string or number/);
      await assert.rejects(ingest([heron], { metadata: { 'a b': 1 } }), /the key "a b" must have/);
      assert.deepEqual(await pawl.jobs().all(), []);
    });
  });
}

test('a job with other metadata is not resumed', async (t) => {
  const path = join(temporaryDirectory(t), 'a.md');
  writeFileSync(path, 'The heron waits.');
  const idle = await open({ data: temporaryDirectory(t), work: false });
  t.after(() => idle.close());
  const submit = async (year: number) => {
    const options = { corpus, resume: true, metadata: { year } };
    return (await idle.ingest([path], options)).isResumed;
  };
  assert.deepEqual([await submit(1), await submit(1), await submit(2)], [false, true, false]);
});
