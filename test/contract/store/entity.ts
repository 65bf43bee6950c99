import assert from 'node:assert/strict';
import { documentIdOf, flip, writeText } from '../../../src/store/document/documents.ts';
import {
  entitiesOfGeneration,
  insertEntities,
  listEntities,
  listRelated,
  type NewEntity,
} from '../../../src/store/document/entities.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

const entity = (kind: string, name: string, starts: readonly number[]): NewEntity => ({
  kind,
  name,
  aliases: [`${name}'s other "name"`],
  mentions: starts.length,
  places: starts.map((start) => ({ start, end: start + name.length })),
});

const ada = entity('person', 'Ada', [0, 40]);
const london = entity('location', 'London', [10]);
const turing = entity('person', 'Turing', [20]);

/** A new document, whose generation names these. */
async function name(
  store: StoreFixture,
  source: string,
  found: Parameters<typeof insertEntities>[2],
): Promise<number> {
  const { ids } = await store.submit({ sources: [{ kind: 'inline', source }] });
  const generation_id = ids[0] as number;
  const id = documentIdOf('ann', 'notes', source);
  const hash = { content_hash: `${generation_id}`, meta: '{}' };
  const text = { title: null, language: null, body: 'words', ...hash };
  await store.database.write(async (transaction) => {
    await writeText(transaction, { generation_id, document_id: id, ...text }, 1);
    await insertEntities(transaction, generation_id, found);
    const owner = { id, caller: 'ann', corpus: 'notes', source, generation_id };
    const sizes = { chunk_count: 1, text_bytes: 5, kept_share: 1, content_hash: text.content_hash };
    await flip(transaction, { ...owner, ...sizes, title: null, language: null }, 1);
  });
  return generation_id;
}

/** SQLite's rows have no prototype. */
const plain = (rows: readonly object[]): object[] => rows.map((row) => ({ ...row }));

const filter = { caller: 'ann', corpus: 'notes', limit: 10 };

export const entityTests: readonly StoreTest[] = [
  [
    'entities are counted over the documents of a corpus, by kind on request',
    async (store) => {
      await name(store, 'one', { entities: [ada, london], relations: [] });
      await name(store, 'two', { entities: [turing, ada], relations: [] });
      assert.deepEqual(plain(await listEntities(store.database, filter)), [
        { kind: 'person', name: 'Ada', mentions: 4, documents: 2 },
        { kind: 'location', name: 'London', mentions: 1, documents: 1 },
        { kind: 'person', name: 'Turing', mentions: 1, documents: 1 },
      ]);
      const people = await listEntities(store.database, { ...filter, kind: 'person', limit: 1 });
      assert.deepEqual(plain(people), [{ kind: 'person', name: 'Ada', mentions: 4, documents: 2 }]);
      assert.deepEqual(await listEntities(store.database, { ...filter, caller: 'bob' }), []);
    },
  ],
  [
    'the entities of a document come with their names and mentions',
    async (store) => {
      const generation = await name(store, 'one', { entities: [london, ada], relations: [] });
      const all = await entitiesOfGeneration(store.database, generation, { limit: 10 });
      assert.deepEqual(all, [
        { ...ada, ordinal: 1 },
        { ...london, ordinal: 0 },
      ]);
      const places = { kind: 'location', limit: 10 };
      const some = await entitiesOfGeneration(store.database, generation, places);
      assert.deepEqual(some, [{ ...london, ordinal: 0 }]);
    },
  ],
  [
    'entities named together are found from either side, over documents',
    async (store) => {
      const entities = [ada, london, turing];
      const both = [
        { one: 0, other: 1, weight: 2 },
        { one: 1, other: 2, weight: 1 },
      ];
      await name(store, 'one', { entities, relations: both });
      await name(store, 'two', {
        entities: [turing, ada],
        relations: [{ one: 0, other: 1, weight: 5 }],
      });
      const related = await listRelated(store.database, { ...filter, name: 'Ada' });
      assert.deepEqual(plain(related), [
        { kind: 'person', name: 'Turing', weight: 5, documents: 1 },
        { kind: 'location', name: 'London', weight: 2, documents: 1 },
      ]);
      const partners = await listRelated(store.database, { ...filter, name: 'London' });
      assert.deepEqual(
        partners.map((row) => [row.name, row.weight]),
        [
          ['Ada', 2],
          ['Turing', 1],
        ],
      );
    },
  ],
  [
    'a new generation replaces the entities of the old one, and a deleted document has none',
    async (store) => {
      const relations = [{ one: 0, other: 1, weight: 1 }];
      await name(store, 'one', { entities: [ada, london], relations });
      await name(store, 'one', { entities: [turing], relations: [] });
      const names = (await listEntities(store.database, filter)).map((row) => row.name);
      assert.deepEqual(names, ['Turing']);
      await store.commands.deleteDocument('ann', documentIdOf('ann', 'notes', 'one'));
      assert.deepEqual(await store.rows('SELECT * FROM entities'), []);
      assert.deepEqual(await store.rows('SELECT * FROM entity_relations'), []);
    },
  ],
];
