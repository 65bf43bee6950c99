/** Search on both databases: the same documents, the same queries, the same results. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { open, type Pawl, type SourceInput } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import type { SearchFilter } from '../../src/search/request.ts';
import { type Postgres, startPostgres, whyNoPgvector } from '../support/postgres.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';

const corpus = 'handbook';
const modes = ['hybrid', 'vector', 'keyword'] as const;
const subjects = ['doctors', 'flights', 'refunds', 'gardens', 'engines', 'libraries'];
const documents: readonly SourceInput[] = [
  {
    id: 'health',
    title: 'Health',
    markdown: '# Health\n\n## Visits\n\nA physician examines all employees each year.',
  },
  {
    id: 'survey',
    title: 'Übersicht ÄRZTE ΟΔΟΣ',
    markdown: '# Überblick\n\nA surgeon is on call every night.',
  },
  { id: 'travel', title: 'Travel', text: 'Flights are booked by the office in advance.' },
  { id: 'copy', title: 'Travel again', text: 'Flights are booked by the office in advance!' },
  ...Array.from({ length: 30 }, (_, n) => ({
    id: `n${n}`,
    title: `Note ${n}`,
    text: `Note ${n} on ${subjects[n % 6]}: café number ${n} pays ${n % 5} invoices to ${
      subjects[(n * 7 + 3) % 6]
    } and keeps ${n % 4} receipts.`,
  })),
];
const queries = ['invoices for flights', 'examining doctor', 'cafe receipts', 'number 7'];

let postgres: Postgres;
let withPgvector: Postgres;
before(async () => {
  postgres = await startPostgres();
  withPgvector = await startPostgres({ pgvector: true });
});
after(async () => {
  await postgres.stop();
  await withPgvector.stop();
});

const stores = ['sqlite', 'postgres', 'pgvector'] as const;
type StoreName = (typeof stores)[number] | 'postgres in the locale C';
const whySkipped = (name: StoreName): string | false =>
  (name === 'pgvector' && whyNoPgvector()) || false;

async function setup(t: Cleanup, name: StoreName): Promise<Pawl> {
  const locale = name === 'postgres in the locale C' ? 'C' : undefined;
  const server = name === 'pgvector' ? withPgvector : postgres;
  const database = name === 'sqlite' ? undefined : await server.createDatabase(undefined, locale);
  const pgvector = name === 'pgvector' ? 'auto' : 'off';
  const pawl = await open({ data: temporaryDirectory(t), database, pgvector });
  t.after(() => pawl.close());
  assert.equal(sessionOf(pawl).pgvector?.isUsed ?? false, name === 'pgvector');
  await (await pawl.ingest(documents, { corpus })).wait();
  return pawl;
}

describe('search', () => {
  test('gives the same hits with the same scores on SQLite and on Postgres', async (t) => {
    await compare([await setup(t, 'sqlite'), await setup(t, 'postgres')]);
  });

  test('gives them with pgvector, too', { skip: whySkipped('pgvector') }, async (t) => {
    await compare([await setup(t, 'sqlite'), await setup(t, 'pgvector')]);
  });

  async function compare(pawls: readonly Pawl[]): Promise<void> {
    for (const mode of modes) {
      for (const query of queries) {
        const [one, other] = await Promise.all(
          pawls.map((pawl) => pawl.search(corpus, query, { mode, explain: true, topK: 20 })),
        );
        assert.ok((one?.length ?? 0) > 0, `${mode}: ${query}`);
        assert.deepEqual(other, one, `${mode}: ${query}`);
      }
    }
    const [hit] = (await pawls[1]?.search(corpus, queries[0] ?? '', { explain: true })) ?? [];
    assert.ok((hit?.explanation?.feedbackTerms.length ?? 0) > 0, 'feedback is used');
  }

  for (const name of stores) {
    const skip = whySkipped(name);
    const fresh = (t: Cleanup) => setup(t, name);

    test(`${name}: the parts of an explanation add up to the score, in every mode`, {
      skip,
    }, async (t) => {
      const pawl = await fresh(t);
      for (const mode of modes) {
        const hits = await pawl.search(corpus, 'invoices for flights', { mode, explain: true });
        assert.ok(hits.length > 0);
        for (const { score, explanation } of hits) {
          const { parts = [], weights = {} } = explanation ?? {};
          const sum = parts.reduce((total, { scaled, weight }) => total + scaled * weight, 0);
          assert.ok(Math.abs(sum - score) < 1e-9, `${sum}, not ${score}`);
          for (const { list, weight, rank } of parts) {
            assert.equal(weight, weights[list]);
            assert.ok(rank >= 1);
          }
        }
      }
    });

    test(`${name}: each hit has its source, and duplicates are folded`, {
      skip,
    }, async (t) => {
      const pawl = await fresh(t);
      for (const mode of modes) {
        const [hit] = await pawl.search(corpus, 'physician examines employees', { mode });
        assert.equal(hit?.title, 'Health');
        assert.equal(hit?.heading, 'Health > Visits');
        assert.match(hit?.sourceUrl ?? '', /^inline:.*health/);
        const marked = hit?.highlights.map(({ start, end }) => hit.text.slice(start, end));
        assert.deepEqual(marked, ['physician', 'examines', 'employees']);
        const [flight] = await pawl.search(corpus, 'flights booked in advance', { mode });
        assert.equal(flight?.similar, 1);
      }
    });

    test(`${name}: every filter works in every mode`, { skip }, async (t) => {
      const pawl = await fresh(t);
      const [health] = await pawl.search(corpus, 'physician');
      const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
      const filters = [
        { documentId: health?.documentId },
        { source: health?.sourceUrl },
        { title: 'health', updatedBefore: tomorrow },
        { heading: 'visits', updatedFrom: '2020-01-01' },
      ];
      for (const mode of modes) {
        for (const filter of filters) {
          const hits = await pawl.search(corpus, 'physician employees flights', { mode, filter });
          const titles = hits.map(({ title }) => title);
          assert.deepEqual(titles, ['Health'], `${mode} ${JSON.stringify(filter)}`);
        }
        for (const filter of [
          { host: 'example.com' },
          { updatedFrom: tomorrow },
          { language: 'xx' },
          { title: '%' },
        ]) {
          assert.deepEqual(await pawl.search(corpus, 'physician', { mode, filter }), []);
        }
      }
      await assert.rejects(pawl.search(corpus, 'x', { filter: { updatedFrom: 'soon' } }), {
        code: 'bad_request',
      });
    });

    test(`${name}: replaced or deleted text is no longer found`, { skip }, async (t) => {
      const pawl = await fresh(t);
      const titles = async (query: string, mode: (typeof modes)[number]) =>
        (await pawl.search(corpus, query, { mode, topK: 100 })).map(({ title }) => title);
      for (const mode of modes) assert.ok((await titles('physician', mode)).includes('Health'));
      const [health] = await pawl.search(corpus, 'physician');
      await pawl.deleteDocument(health?.documentId ?? '');
      const changed = [{ id: 'travel', title: 'Trains', text: 'Carriages leave on Mondays.' }];
      await (await pawl.ingest(changed, { corpus })).wait();
      for (const mode of modes) {
        assert.ok(!(await titles('physician', mode)).includes('Health'));
        assert.ok((await titles('carriages', mode)).includes('Trains'));
        assert.ok(!(await titles('flights', mode)).includes('Travel'));
      }
    });
  }

  for (const name of [...stores, 'postgres in the locale C'] as const) {
    test(`${name}: titles and headings ignore case, sources do not`, {
      skip: whySkipped(name),
    }, async (t) => {
      const pawl = await setup(t, name);
      const [survey] = await pawl.search(corpus, 'surgeon', { mode: 'keyword' });
      const source = survey?.sourceUrl ?? '';
      const titles = async (filter: SearchFilter) => {
        const hits = await pawl.search(corpus, 'surgeon', { mode: 'keyword', filter });
        return hits.map(({ title }) => title);
      };
      const found = ['Übersicht ÄRZTE ΟΔΟΣ'];
      // A final sigma needs ICU, which the Postgres with pgvector may lack.
      const greek = name === 'pgvector' ? [] : ['οδος'];
      for (const title of ['übersicht', 'ÜBERSICHT', 'ärzte', 'T ÄR', ...greek]) {
        assert.deepEqual(await titles({ title }), found, title);
      }
      for (const heading of ['überblick', 'ÜBERBLICK']) {
        assert.deepEqual(await titles({ heading }), found, heading);
      }
      assert.deepEqual(await titles({ source: source.slice(0, -2) }), found);
      assert.deepEqual(await titles({ source: source.toUpperCase() }), []);
      assert.deepEqual(await titles({ source: source.replace(/.$/, '_') }), []);
    });
  }
});
