import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { languageSamples } from '../../test/support/language-samples.ts';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { open, type Pawl } from '../index.ts';

const corpus = 'languages';
const guide = new URL('../../docs/guide/search.md', import.meta.url);
const modes = ['keyword', 'hybrid'] as const;

const idOf = (language: string, place: number): string => `inline:${language}-${place}`;

describe('search in fifteen languages, all in one corpus', () => {
  const cleanups: (() => unknown)[] = [];
  const t = { after: (cleanup: () => unknown) => void cleanups.push(cleanup) };
  let pawl: Pawl;

  before(async () => {
    pawl = await open({ data: temporaryDirectory(t) });
    t.after(() => pawl.close());
    const documents = languageSamples.flatMap(({ language, texts }) =>
      texts.map((text, place) => ({ id: `${language}-${place}`, text })),
    );
    await (await pawl.ingest(documents, { corpus })).wait();
  });
  after(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
  });

  /** How many of the queries have their text as the first hit. */
  async function foundFirst(language: string, mode: (typeof modes)[number]): Promise<string[]> {
    const { queries = [] } = languageSamples.find((one) => one.language === language) ?? {};
    const missed: string[] = [];
    for (const [place, query] of queries.entries()) {
      const [hit] = await pawl.search(corpus, query, { mode, topK: 1 });
      if (hit?.sourceUrl !== idOf(language, place)) missed.push(query);
      else if (mode === 'keyword') assert.ok(hit.highlights.length > 0, `${query} is not marked`);
    }
    return missed;
  }

  for (const { language, name } of languageSamples) {
    test(`finds other forms of words in ${name}`, async () => {
      for (const mode of modes) assert.deepEqual(await foundFirst(language, mode), [], mode);
    });
  }

  test('detects the language of each text', async () => {
    const all = await pawl.documents(corpus, { limit: 100 }).all();
    for (const { sourceUrl, language } of all) {
      assert.equal(language, sourceUrl.replace(/^inline:|-\d$/g, ''), sourceUrl);
    }
  });

  test('writes the table of the guide', async () => {
    const lines = ['| language | keyword | hybrid |', '| --- | --- | --- |'];
    for (const { language, name, queries } of languageSamples) {
      const counts = await Promise.all(
        modes.map(async (mode) => {
          const { length } = await foundFirst(language, mode);
          return `${queries.length - length} of ${queries.length}`;
        }),
      );
      lines.push(`| ${name} | ${counts.join(' | ')} |`);
    }
    const table = lines.join('\n');
    assert.ok(readFileSync(guide, 'utf8').includes(table), `docs/guide/search.md:\n${table}`);
  });
});
