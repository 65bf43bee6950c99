/** Filters by metadata give the same documents on every store and in every mode. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type InlineDocument, open, type Pawl } from '../../src/index.ts';
import type { Metadata } from '../../src/kernel/metadata/metadata.ts';
import { readWhere, type WhereInput } from '../../src/kernel/metadata/read-where.ts';
import { matches } from '../../src/kernel/metadata/where.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { readSinkPlace } from '../../src/store/delivery/sinks.ts';
import { type Postgres, startPostgres, whyNoPgvector } from '../support/postgres.ts';
import { openQdrantPlace } from '../support/qdrant/qdrant-place.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';

const corpus = 'notes';
const modes = ['hybrid', 'vector', 'keyword'] as const;
const things = 'heron reeds barn owl lantern harbour violin ladder saddle quarry'.split(' ');

const metadata: Readonly<Record<string, Metadata>> = {
  a: { team: 'ops', year: 2023, draft: true, tags: ['red', 'blue'] },
  b: { team: 'ops', year: 2025, draft: false, tags: ['blue'] },
  c: { team: 'dev', year: 2025.5, tags: [] },
  d: { team: 'dev', year: -1, draft: false },
  e: { team: '\u{1f600}', level: 'high' },
  f: { team: '\uff5e', level: 3 },
  g: { team: 'Ops', level: true, tags: ['Red', 'a%b_c\\d"e'] },
  h: {},
};

const documentOf = (id: string, text = textOf(id)): InlineDocument => ({
  id,
  title: `Title ${id}`,
  markdown: text,
  metadata: metadata[id],
});

/** Different enough not to be folded as duplicates. */
function textOf(id: string): string {
  const at = Object.keys(metadata).indexOf(id);
  const words = things.map((_, n) => things[(at * 3 + n * (at + 1)) % things.length]);
  const some = [...new Set(words)].slice(0, 4).join(' ');
  return `# Part ${id}\n\nThe report and ${some} of ${id}${id}.`;
}

const conditions: readonly [WhereInput, string][] = [
  ['team = "ops"', 'ab'],
  ['team != "ops"', 'cdefgh'],
  ['team in ("ops", "dev")', 'abcd'],
  ['team not in ("ops", "dev")', 'efgh'],
  ['year >= 2025', 'bc'],
  ['year > 2025', 'c'],
  ['year < 0', 'd'],
  ['year <= 2023', 'ad'],
  ['year = 2025.5', 'c'],
  ['year in (2023, -1, 7)', 'ad'],
  ['draft = false', 'bd'],
  ['draft != true', 'bcdefgh'],
  ['tags = "blue"', 'ab'],
  ['tags in ("red", "Red")', 'ag'],
  ['tags exists', 'abg'],
  ['tags not exists', 'cdefh'],
  ['tags = "a%b_c\\\\d\\"e"', 'g'],
  ['level exists', 'efg'],
  ['level = 3', 'f'],
  ['level = true', 'g'],
  ['level = "high"', 'e'],
  ['team > "z"', 'ef'],
  ['team < "\u{1f600}" and team > "z"', 'f'],
  ['team >= "Ops" and team < "p"', 'abcdg'],
  ['team = "ops" and year >= 2025', 'b'],
  ['team = "dev" or tags = "red"', 'acd'],
  ['not (team = "dev" or draft exists)', 'efgh'],
  ['(team = "ops" or team = "dev") and not draft = true and year > 0', 'bc'],
  [{ team: 'ops', year: { $gte: 2024 } }, 'b'],
  [{ $or: [{ team: 'dev' }, { tags: { $in: ['red'] } }], draft: { $exists: true } }, 'ad'],
  [{ $not: { team: { $in: ['ops', 'dev'] } }, level: { $exists: false } }, 'h'],
];

let postgres: Postgres;
before(async () => {
  postgres = await startPostgres({ durable: false, pgvector: true });
});
after(() => postgres.stop());

const stores = ['sqlite', 'postgres', 'pgvector', 'qdrant'] as const;
type StoreName = (typeof stores)[number];

async function setup(t: Cleanup, name: StoreName): Promise<Pawl> {
  const isPostgres = name === 'postgres' || name === 'pgvector';
  const qdrant = name === 'qdrant' ? await openQdrantPlace(t) : undefined;
  const pawl = await open({
    data: temporaryDirectory(t),
    database: isPostgres ? await postgres.createDatabase() : undefined,
    pgvector: name === 'pgvector' ? 'auto' : 'off',
    sinks: qdrant && { qdrant },
  });
  t.after(() => pawl.close());
  await ingest(
    pawl,
    Object.keys(metadata).map((id) => documentOf(id)),
  );
  if (qdrant) {
    // Until then, the vectors in memory answer.
    const isFilled = async () =>
      (await readSinkPlace(sessionOf(pawl).store, 'qdrant')) !== undefined;
    await until(isFilled, { what: 'Qdrant to be filled' });
  }
  return pawl;
}

async function ingest(pawl: Pawl, documents: readonly InlineDocument[]): Promise<void> {
  await (await pawl.ingest(documents, { corpus })).wait();
}

interface Asked {
  readonly mode?: (typeof modes)[number];
  readonly query?: string;
}

/** The ids of the documents that a search finds, in order. */
async function find(pawl: Pawl, where: WhereInput, { mode, query }: Asked = {}): Promise<string> {
  const words = query ?? `report ${things.join(' ')}`;
  const hits = await pawl.search(corpus, words, { mode, topK: 100, filter: { where } });
  const ids = hits.map(({ sourceUrl }) => sourceUrl.replace('inline:', ''));
  return [...new Set(ids)].sort().join('');
}

for (const name of stores) {
  const skip = (name === 'pgvector' && whyNoPgvector()) || false;

  describe(`filters by metadata on ${name}`, { skip }, () => {
    test('find exactly the documents that match, in every mode', async (t) => {
      const pawl = await setup(t, name);
      for (const mode of modes) {
        for (const [where, expected] of conditions) {
          assert.equal(await find(pawl, where, { mode }), expected, `${mode} ${tell(where)}`);
        }
      }
      // Words that are in no index in memory: the database searches.
      for (const [where, expected] of conditions.slice(0, 3)) {
        const asked = { mode: 'keyword', query: 'the and of' } as const;
        const found = await find(pawl, where, asked);
        if (name === 'sqlite') assert.equal(found, expected, tell(where));
        assert.ok(
          [...found].every((id) => expected.includes(id)),
          `${found} ${tell(where)}`,
        );
      }
    });

    test('find the same as a comparison with each document, for any condition', async (t) => {
      const pawl = await setup(t, name);
      const next = numbers();
      for (let round = 0; round < 60; round += 1) {
        const where = randomCondition(next, 3);
        const expected = Object.keys(metadata)
          .filter((id) => matches(readWhere(where), metadata[id] ?? {}))
          .join('');
        assert.equal(await find(pawl, where, { mode: 'keyword' }), expected, tell(where));
      }
    });

    test('follow every change of a document', async (t) => {
      const pawl = await setup(t, name);
      const where = 'team = "ops"';
      const others = 'not team = "ops"';
      const both = async () => [await find(pawl, where), await find(pawl, others)];
      assert.deepEqual(await both(), ['ab', 'cdefgh']);
      await ingest(pawl, [{ ...documentOf('a'), metadata: { team: 'dev' } }]);
      assert.deepEqual(await both(), ['b', 'acdefgh']);
      await ingest(pawl, [{ ...documentOf('h'), metadata: { team: 'ops' } }]);
      await ingest(pawl, [documentOf('b', 'The report on a heron was written again.')]);
      assert.deepEqual(await both(), ['bh', 'acdefg']);
      const documents = await pawl.documents(corpus).all();
      const gone = documents.find(({ sourceUrl }) => sourceUrl === 'inline:b');
      await pawl.deleteDocument(gone?.documentId ?? '');
      assert.deepEqual(await both(), ['h', 'acdefg']);
    });

    test('work with other filters', async (t) => {
      const pawl = await setup(t, name);
      const search = async (filter: object) => {
        const hits = await pawl.search(corpus, 'report', { topK: 100, filter });
        return hits
          .map(({ title }) => title?.at(-1))
          .sort()
          .join('');
      };
      assert.equal(await search({ where: 'team = "ops"', title: 'title b' }), 'b');
      assert.equal(await search({ where: 'team != "ops"', title: 'title b' }), '');
      assert.equal(await search({ where: 'team = "ops"', heading: 'part' }), 'ab');
      assert.equal(await search({ where: 'team = "ops"', heading: 'part a' }), 'a');
    });

    test('refuse keys that no document has, and values of another type', async (t) => {
      const pawl = await setup(t, name);
      const cases: readonly [WhereInput, RegExp][] = [
        [
          'tema = "ops"',
          /no document of notes has the metadata key "tema"; the closest one is tea/,
        ],
        [{ yaer: { $gte: 1 } }, /the closest one is year \(its keys: draft, level, tags, team, ye/],
        ['year >= "2025"', /compares with a text, but year has numbers.*write year >= 2025/],
        ['team = 7', /compares with a number, but team has texts in notes: write team = "7"/],
        ['draft = "true"', /draft has true or false in notes: write draft = true/],
        ['team in ("ops", 1)', /compares with a number/],
        ['year > true', /true and false have no order/],
      ];
      for (const [where, reason] of cases) {
        await assert.rejects(find(pawl, where), reason, tell(where));
      }
      await ingest(pawl, [{ ...documentOf('h'), metadata: { tema: 'x' } }]);
      assert.equal(await find(pawl, 'tema = "x"'), 'h');
    });

    test('count the documents of each value, and follow changes', async (t) => {
      const pawl = await setup(t, name);
      const facets = ['metadata.team', 'metadata.draft', 'metadata.tags', 'type'] as const;
      const options = { facets, mode: 'keyword' } as const;
      const counted = async (filter?: { where: string }) => {
        const found = await pawl.searchResponse(corpus, 'report', { ...options, filter });
        const shown = ({ value, count }: { value: unknown; count: number }): string =>
          `${JSON.stringify(value)} ${count}`;
        const entries = Object.entries(found.facets).map(([facet, counts]) => [
          facet.replace('metadata.', ''),
          counts.map(shown).join(', '),
        ]);
        return Object.fromEntries(entries);
      };
      const type = '"inline" 8';
      assert.deepEqual(await counted(), {
        team: '"dev" 2, "ops" 2, "Ops" 1, "\u{1f600}" 1, "\uff5e" 1',
        draft: 'false 2, true 1',
        tags: '"blue" 2, "Red" 1, "a%b_c\\\\d\\"e" 1, "red" 1',
        type,
      });
      const draft = 'true 1';
      const ofA = { team: '"ops" 1', draft, tags: '"blue" 1, "red" 1', type: '"inline" 1' };
      assert.deepEqual(await counted({ where: 'draft = true' }), ofA);
      await ingest(pawl, [{ ...documentOf('a'), metadata: { team: 'new', draft: true } }]);
      const changed = { team: '"new" 1', draft, tags: '', type: '"inline" 1' };
      assert.deepEqual(await counted({ where: 'draft = true' }), changed);
      await assert.rejects(
        pawl.searchResponse(corpus, 'report', { facets: ['metadata.tema'] }),
        /no document of notes has the metadata key "tema"; the closest one is team/,
      );
    });
  });
}

test('misspelt filters are refused, and conditions where there is no metadata', async (t) => {
  const pawl = await open({ data: temporaryDirectory(t) });
  t.after(() => pawl.close());
  await ingest(pawl, [{ id: 'h', text: 'The report of herons.' }]);
  const wrong = { titel: 'x' } as object;
  await assert.rejects(
    pawl.search(corpus, 'report', { filter: wrong }),
    /titel is not an option of search\.filter; the closest one is title/,
  );
  await assert.rejects(find(pawl, 'team = "ops"'), /its documents have no metadata/);
});

function tell(where: WhereInput): string {
  return typeof where === 'string' ? where : JSON.stringify(where);
}

/** Numbers from 0 below 1, the same each time. */
function numbers(): () => number {
  let state = 7;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function randomCondition(next: () => number, depth: number): string {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(next() * all.length)] as T;
  const kind = depth === 0 ? 'leaf' : pick(['leaf', 'leaf', 'and', 'or', 'not']);
  const inner = () => `(${randomCondition(next, depth - 1)})`;
  if (kind === 'not') return `not ${inner()}`;
  if (kind !== 'leaf') return `${inner()} ${kind} ${inner()}`;
  const texts = ['"ops"', '"dev"', '"Ops"', '"z"', '"\u{1f600}"', '"\uff5e"', '"blue"', '"red"'];
  const values = { team: texts, tags: texts, year: ['2023', '2025', '-1', '0', '2025.5'] };
  const key = pick(['team', 'tags', 'year'] as const);
  const op = pick(['=', '!=', '<', '<=', '>', '>=', 'in', 'exists']);
  if (op === 'exists') return `${key} exists`;
  if (op === 'in') return `${key} in (${pick(values[key])}, ${pick(values[key])})`;
  return `${key} ${op} ${pick(values[key])}`;
}
