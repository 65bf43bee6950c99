import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Cleanup, temporaryDirectory } from '../../../test/support/temporary.ts';
import { realWorld } from '../../app/world.ts';
import { open } from '../../index.ts';
import { sessionOf } from '../../library/internal.ts';
import { staticEmbedder } from '../../provider/embedding/static-embedder.ts';
import { Searcher } from '../../search/search.ts';
import { openSqlite } from '../../store/driver/sqlite.ts';
import { sql } from '../../store/driver/statement.ts';
import { getReindex } from '../../store/search/words.ts';
import { analysisVersion } from './analysis.ts';
import { WordReindex } from './reindex.ts';
import { WordPacker } from './word-packer.ts';

const caller = 'local';
const corpus = 'handbuch';
const texts = [
  'Die Rückerstattung wird dem Kunden innerhalb von dreißig Tagen auf das Konto überwiesen.',
  'Alle Häuser in der Straße wurden nach dem Krieg von einer Genossenschaft gebaut.',
  'Die Mitarbeiter müssen ihre Reisekosten bis zum Ende des Monats abrechnen.',
];

const chunks = sql<{ generation_id: number; text: string }>`
  SELECT generation_id, text FROM chunks`;
const setWords = sql`UPDATE generation_words SET words = :words WHERE generation_id = :id`;

/** A store as the version before languages has left it. */
async function setup(t: Cleanup) {
  const data = temporaryDirectory(t);
  const pawl = await open({ data });
  const documents = texts.map((text, place) => ({ id: `d${place}`, text }));
  await (await pawl.ingest(documents, { corpus })).wait();
  await pawl.close();
  const database = openSqlite({ path: join(data, 'pawl.db'), world: realWorld() });
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= database.close();
    return closed;
  };
  t.after(close);
  const packer = new WordPacker();
  await database.write(async (transaction) => {
    for (const { generation_id: id, text } of await transaction.run(chunks)) {
      const words = packer.pack('', [{ ordinal: 0, heading: '', text }], 'en');
      await transaction.run(setWords, { id, words });
    }
    await transaction.run(sql`DELETE FROM generation_analysis`);
    await transaction.run(sql`DELETE FROM word_reindex`);
    await transaction.run(sql`UPDATE documents SET language = NULL`);
  });
  const searcher = new Searcher({ database, embedder: staticEmbedder() });
  const search = async (query: string): Promise<string[]> => {
    const hits = await searcher.search({ caller, corpus, query, mode: 'keyword' });
    return hits.map(({ text }) => text);
  };
  return { data, database, search, close };
}

describe('the words of an older store', () => {
  test('are found by the old analysis until all are analyzed again', async (t) => {
    const { database, search } = await setup(t);
    assert.deepEqual(await search('Rückerstattung'), [texts[0]]);
    assert.deepEqual(await search('Rückerstattungen'), []);
    await new WordReindex(database).run();
    assert.deepEqual(await search('Rückerstattung'), [texts[0]]);
    assert.deepEqual(await search('Rückerstattungen'), [texts[0]]);
    assert.deepEqual(await search('gebautes Haus'), [texts[1]]);
    const state = await getReindex(database, analysisVersion);
    assert.deepEqual([state?.documents_done, state?.documents_total], [3, 3]);
    const languages = await database.run(sql<{ language: string }>`SELECT language FROM documents`);
    assert.deepEqual(
      languages.map(({ language }) => language),
      ['de', 'de', 'de'],
    );
  });

  test('are analyzed from the document at which a killed process was', async (t) => {
    const { database, search } = await setup(t);
    const ids = await database.run(sql<{ id: string }>`SELECT id FROM documents ORDER BY id`);
    const last = ids[1]?.id ?? '';
    await database.write((transaction) =>
      transaction.run(
        sql`INSERT INTO word_reindex (version, last_document, documents_done, documents_total)
          VALUES (:version, :last, 2, 3)`,
        { version: analysisVersion, last },
      ),
    );
    await new WordReindex(database).run();
    const analyzed = sql<{ generation_id: number }>`SELECT generation_id FROM generation_analysis`;
    assert.equal((await database.run(analyzed)).length, 1);
    const state = await getReindex(database, analysisVersion);
    assert.equal(state?.documents_done, 3);
    assert.ok(state?.finished_at);
    // The two others are still found by their old analysis.
    for (const text of texts) assert.ok((await search(text)).includes(text));
  });

  test('are analyzed in the background by a process that works', async (t) => {
    const { data, close } = await setup(t);
    await close();
    const pawl = await open({ data });
    t.after(() => pawl.close());
    await pawl.work();
    // A document that is ingested meanwhile takes longer than three small ones.
    await (await pawl.ingest([{ id: 'more', text: 'Ein anderer Text.' }], { corpus })).wait();
    while ((await getReindex(sessionOf(pawl).store, analysisVersion))?.finished_at == null) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const hits = await pawl.search(corpus, 'Rückerstattungen', { mode: 'keyword' });
    assert.equal(hits[0]?.text, texts[0]);
  });
});
