/** The estimated cost of an ingestion, in the library. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type OpenOptions, open } from '../../src/index.ts';
import { startCompletionServer, withContent } from '../support/completion-server.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** The price turns tokens into cents, and nothing is ever sent to this address. */
const embedder = {
  choice: 'openai:never-asked',
  url: 'http://127.0.0.1:9/v1',
  centsPerMillionTokens: 1_000_000,
};

async function setup(
  t: TestContext,
  files: Readonly<Record<string, string | Uint8Array>>,
  more: Pick<OpenOptions, 'extractor'> = {},
) {
  const folder = temporaryDirectory(t);
  const docs = join(folder, 'docs');
  mkdirSync(docs);
  for (const [name, body] of Object.entries(files)) writeFileSync(join(docs, name), body);
  const pawl = await open({ data: join(folder, 'store'), embedder, work: false, ...more });
  t.after(() => pawl.close());
  return { pawl, docs };
}

describe('an estimate', () => {
  test('reads a sample of many files, and gives a range for the rest', async (t) => {
    const files = Object.fromEntries(
      Array.from({ length: 320 }, (_, index) => [
        `${String(index).padStart(3, '0')}.txt`,
        'walrus '.repeat(20 + ((index * 7) % 60)),
      ]),
    );
    const { pawl, docs } = await setup(t, files);
    const found = await pawl.estimate([docs], { corpus: 'zoo' });
    assert.deepEqual([found.filesRead, found.isSampled], [200, true]);
    assert.equal(found.documents.likely, 320);
    // The tokens of all files, counted folder by folder without sampling.
    const names = Object.keys(files).map((name) => join(docs, name));
    const halves = [names.slice(0, 160), names.slice(160)];
    let exact = 0;
    for (const half of halves)
      exact += (await pawl.estimate(half, { corpus: 'zoo' })).tokens.likely;
    const { least, likely, most } = found.tokens;
    assert.ok(least <= exact && exact <= most, `${least} to ${most}, and not ${exact}`);
    assert.ok(Math.abs(likely - exact) < exact / 20, `${likely}, and not ${exact}`);
  });

  test('counts unreadable files as free, and inline text as it is', async (t) => {
    const { pawl, docs } = await setup(t, {
      'good.txt': 'The walrus sleeps.',
      'binary.bin': Uint8Array.of(0, 1, 2, 255, 254, 0, 7),
      'empty.txt': '',
    });
    const inline = { markdown: '# Zoo\n\nThe lantern glows.' };
    const found = await pawl.estimate([docs, inline], { corpus: 'zoo' });
    assert.deepEqual([found.documents.likely, found.unreadable], [4, 2]);
    assert.ok(found.tokens.likely > 8 && found.tokens.likely < 30, String(found.tokens.likely));
    assert.equal(found.cents?.likely, found.tokens.likely);
    assert.deepEqual(await pawl.corpora().all(), []);
  });

  test('counts the files of a mail, and those of mails in it', async (t) => {
    const mail = (boundary: string, ...files: readonly string[]) =>
      [
        'From: ines@example.org\r\nDate: Mon, 2 Mar 2026 10:00:00 +0000\r\nSubject: Tides',
        `Content-Type: multipart/mixed; boundary=${boundary}\r\n`,
        `--${boundary}\r\n\r\nHigh water at noon.`,
        ...files.map((file) => `--${boundary}\r\n${file}`),
        `--${boundary}--\r\n`,
      ].join('\r\n');
    const text = (name: string, words: string) =>
      `Content-Disposition: attachment; filename=${name}\r\n\r\n${words}`;
    const longOf = (word: string) =>
      Array.from({ length: 1000 }, (_, index) => `${word} ${index}.`).join(' ');
    const inner = mail('inner', text('b.txt', longOf('walrus')));
    const { pawl, docs } = await setup(t, {
      'bare.eml': mail('outer'),
      'files.eml': mail(
        'outer',
        text('a.txt', longOf('heron')),
        `Content-Type: message/rfc822\r\n\r\n${inner}`,
      ),
    });
    const bare = await pawl.estimate([join(docs, 'bare.eml')], { corpus: 'zoo' });
    const full = await pawl.estimate([join(docs, 'files.eml')], { corpus: 'zoo' });
    assert.deepEqual([bare.documents.likely, full.documents.likely], [1, 4]);
    const more = full.tokens.likely - bare.tokens.likely;
    assert.ok(more > 8000 && more < 15_000, String(more));
  });

  test('counts requests for entities, and those already paid', async (t) => {
    const server = await startCompletionServer(withContent('{"entities":[]}'));
    t.after(() => server.close());
    // One cent per input token, two per output token.
    const prices = { input: 1_000_000, output: 2_000_000 };
    const extractor = { model: 'tiny', url: server.url, prices };
    const texts = { 'one.txt': 'The walrus sleeps.', 'two.txt': 'The lantern glows.' };
    const files = { ...texts, 'three.txt': texts['one.txt'] };
    const { docs } = await setup(t, files);
    const pawl = await open({ data: temporaryDirectory(t), work: false, extractor });
    t.after(() => pawl.close());
    const first = await pawl.estimate([docs], { corpus: 'zoo' });
    const { extraction, cents } = first;
    const { tokensIn, tokensOut } = extraction ?? assert.fail('a model is asked');
    assert.equal(extraction?.model, 'tiny');
    assert.ok(tokensIn.likely > 600 && tokensIn.likely < 3000, String(tokensIn.likely));
    assert.equal(cents?.likely, tokensIn.likely + 2 * tokensOut.likely);
    assert.equal(server.calls.length, 0);
    await pawl.work();
    await (await pawl.ingest([join(docs, 'one.txt')], { corpus: 'other' })).wait();
    const second = (await pawl.estimate([docs], { corpus: 'zoo' })).extraction;
    assert.ok((second?.tokensIn.likely ?? 0) < tokensIn.likely / 2, 'two of three are answered');
    assert.ok((second?.tokensSaved ?? 0) > tokensIn.likely / 2);
    const page = await pawl.estimate(['https://example.com/a'], { corpus: 'zoo' });
    const range = page.extraction?.tokensIn ?? assert.fail('pages count, too');
    assert.ok(range.least < range.likely && range.likely < range.most);
    const unpriced = { extractor: { model: 'tiny', url: server.url } };
    const blind = await setup(t, texts, unpriced);
    assert.equal((await blind.pawl.estimate([blind.docs], { corpus: 'zoo' })).cents, null);
    const limited = blind.pawl.ingest([blind.docs], { corpus: 'zoo', budgetCents: 5 });
    await assert.rejects(limited, { code: 'bad_request', message: /PAWL_EXTRACTOR_PRICE/ });
  });

  test('gives a range for unread pages', async (t) => {
    const { pawl } = await setup(t, {});
    const { tokens, documents } = await pawl.estimate(['https://example.com/a'], { corpus: 'zoo' });
    assert.equal(documents.likely, 1);
    assert.ok(tokens.least < tokens.likely && tokens.likely < tokens.most);
  });
});
