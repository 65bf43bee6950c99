/** The files of mails, as their own documents. */
import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import type { BlobStore } from '../../../src/blob/blob.ts';
import type { Ledger } from '../../../src/engine/item/ledger.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { documentPipeline } from '../../../src/pipeline/document.ts';
import { parse } from '../../../src/pipeline/extract/format/parse.ts';
import type { Parser } from '../../../src/pipeline/extract/parsed.ts';
import type { StepFunction } from '../../../src/pipeline/pipeline.ts';
import { staticEmbedder } from '../../../src/provider/embedding/static-embedder.ts';
import { documentIdOf, listDocuments } from '../../../src/store/document/documents.ts';
import type { Report } from '../../../src/store/item/reports.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';
import { ledgerOver } from '../../support/ledger-over.ts';
import { extractor } from '../../support/local-extractor.ts';
import { type MailFile, writeMail } from '../../support/mail-writer.ts';
import { searchStore } from '../../support/search-store.ts';
import type { Submitted } from '../../support/store-fixture.ts';
import { makeLatch } from '../../support/test-world.ts';

const fetcher = { get: () => Promise.reject(new Error('nothing here is on the web')) };

function setup() {
  const stored = new Map<string, Uint8Array>();
  const blobs: BlobStore = {
    put: async (bytes) => {
      const key = hash('sha256', bytes);
      stored.set(key, bytes);
      return key;
    },
    get: async (key) => stored.get(key) ?? Promise.reject(new Error(`no blob ${key}`)),
  };
  const parsed: string[] = [];
  const parser: Parser = (input, signal) => {
    parsed.push(input.source);
    return parse(input, signal);
  };
  const embedder = staticEmbedder();
  const pipeline = documentPipeline({ blobs, embedder, fetcher, extractor, parser });
  return { pipeline, parsed, stored };
}

const page = { caller: 'ann', corpus: 'notes', after: '', limit: 100 };

async function titles(bench: EngineFixture): Promise<string[]> {
  const rows = await listDocuments(bench.store.database, page);
  return rows.map(({ title }) => title ?? '').sort();
}

/** The indexed text of a document. */
async function textOf(bench: EngineFixture, source: string): Promise<string | undefined> {
  const [row] = await bench.store.rows<{ body: string }>(
    `SELECT body FROM documents JOIN texts ON texts.generation_id = documents.generation_id
     WHERE documents.source = '${source}'`,
  );
  return row?.body;
}

async function found(bench: EngineFixture, query: string): Promise<string[]> {
  const request = { caller: 'ann', corpus: 'notes', query };
  return (await searchStore(bench.store.database, request)).map(({ text }) => text);
}

function submit(bench: EngineFixture, mail: string, force = false): Promise<Submitted> {
  const input = { kind: 'text', title: null, body: mail } as const;
  return bench.store.submit({ force, sources: [{ kind: 'inline', source: 'mail', input }] });
}

async function ingest(bench: EngineFixture, mail: string, force = false): Promise<Submitted> {
  const job = await submit(bench, mail, force);
  await bench.untilJob(job, 'succeeded');
  return job;
}

const mailWith = (...files: MailFile[]): string =>
  writeMail({ subject: 'Berth', text: 'The Otter arrives.', files });
const walrus = { name: 'walrus.txt', content: 'The walrus sleeps.' };
const lantern = { name: 'lantern.md', content: '# Lamp\n\nThe lantern glows.' };
const unread = { name: 'tool.bin', content: Uint8Array.of(0, 1, 2, 3, 0, 255) };

const isReading = ({ events }: Report): boolean =>
  events.some(({ kind, step }) => kind === 'step_completed' && step === 'content_extracted');

async function countOf(bench: EngineFixture, { key }: Submitted): Promise<number[]> {
  const row = await bench.store.job(key);
  return [row.items_total, row.items_done, row.items_failed];
}

export const attachmentTests: readonly EngineTest[] = [
  [
    'the files of a mail are documents with their own names that refer to the mail',
    async (bench) => {
      await bench.start({}, { pipeline: setup().pipeline });
      const job = await ingest(bench, mailWith(walrus, lantern));
      assert.deepEqual(await countOf(bench, job), [3, 3, 0]);
      assert.deepEqual(await titles(bench), ['Berth', 'lantern.md', 'walrus.txt']);
      assert.ok((await found(bench, 'walrus sleeps')).includes('The walrus sleeps.'));
      assert.match((await textOf(bench, 'mail')) ?? '', /- walrus\.txt .*\n- lantern\.md/);
      const rows = await listDocuments(bench.store.database, page);
      const byTitle = new Map(rows.map((row) => [row.title, row.meta]));
      assert.equal(byTitle.get('lantern.md')?.attachment_of, 'mail');
      assert.equal(byTitle.get('Berth')?.attachments, 2);
      assert.equal(byTitle.get('Berth')?.attachment_names, 'walrus.txt, lantern.md');
      assert.equal(await bench.store.withoutCause(), 0);
    },
  ],
  [
    'an unreadable file fails alone, and is retried alone without the mail',
    async (bench) => {
      const { pipeline, parsed } = setup();
      const engine = await bench.start({}, { pipeline });
      const job = await submit(bench, mailWith(walrus, unread));
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(await countOf(bench, job), [3, 2, 1]);
      const [failed] = await bench.store.rows<{ id: number; source: string; error: string }>(
        'SELECT id, source, error FROM items WHERE failed_at IS NOT NULL',
      );
      assert.equal(failed?.source, 'mail#attachment/tool.bin');
      assert.equal(JSON.parse(failed?.error ?? '').code, 'unsupported_mime');
      const before = [...parsed];
      await engine.commands.retryItems('ann', [failed?.id ?? 0]);
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(parsed, before);
      assert.deepEqual(await countOf(bench, job), [3, 2, 1]);
    },
  ],
  [
    'large files are stored as blobs, and are not read from the mail again',
    async (bench) => {
      const { pipeline, parsed, stored } = setup();
      await bench.start({}, { pipeline });
      // Too much for a row even when packed.
      const digits = randomBytes(limits.document.rowBytesMax).toString('hex');
      const content = `The walrus sleeps. ${digits.replaceAll(/.{60}/g, '$& ')}`;
      await ingest(bench, mailWith({ name: 'long.txt', content }));
      assert.equal(stored.size, 1);
      assert.deepEqual(parsed, ['mail', 'mail#attachment/long.txt']);
    },
  ],
  [
    'a mail without words is read for its files',
    async (bench) => {
      await bench.start({}, { pipeline: setup().pipeline });
      await ingest(bench, writeMail({ files: [walrus] }));
      assert.equal(await textOf(bench, 'mail#attachment/walrus.txt'), 'The walrus sleeps.');
    },
  ],
  [
    'a mail in a mail adds its own files, up to a depth',
    async (bench) => {
      await bench.start({}, { pipeline: setup().pipeline });
      const { depthMax } = limits.attachment;
      const inner = Array.from({ length: depthMax + 2 }).reduce<string>(
        (content, _, index) =>
          writeMail({
            text: `Level ${index}`,
            files: [{ name: `m${index}.eml`, content, type: 'message/rfc822' }],
          }),
        mailWith(walrus),
      );
      const job = await ingest(bench, inner);
      assert.deepEqual(await countOf(bench, job), [depthMax + 1, depthMax + 1, 0]);
      const text = await textOf(bench, 'mail#attachment/m6.eml#attachment/m5.eml');
      assert.match(text ?? '', /Level 4/);
      const told = (await bench.store.events()).filter(({ kind }) => kind === 'attachments_found');
      assert.match(String(told.at(-1)?.detail?.reason), /bounds are reached/);
    },
  ],
  [
    'a mail and the mails in it add a bounded number of files',
    async (bench) => {
      await bench.start({}, { pipeline: setup().pipeline });
      const { filesAllMax, filesMax } = limits.attachment;
      await bench.store.database.write(async (transaction) => {
        const text = `INSERT INTO attachments (document_id, mail_id, root_id, mail_source,
          mail_hash, name, depth, as_of) VALUES (:id, 'inner', :root, 'mail', 'x', 'x', 2, 0)`;
        const root = documentIdOf('ann', 'notes', 'mail');
        for (let at = 0; at < filesAllMax - 1; at += 1) {
          await transaction.run({ text }, { id: `${at}`, root });
        }
      });
      assert.ok(filesMax > 1);
      const job = await ingest(bench, mailWith(walrus, lantern));
      assert.deepEqual(await countOf(bench, job), [2, 2, 0]);
    },
  ],
  [
    'a changed mail replaces its files, and removed files leave the corpus',
    async (bench) => {
      await bench.start({}, { pipeline: setup().pipeline });
      const attached = writeMail({ text: 'An older letter', files: [lantern] });
      const letter = { name: 'old.eml', content: attached, type: 'message/rfc822' };
      await ingest(bench, mailWith(walrus, letter));
      assert.deepEqual(await titles(bench), ['Berth', 'lantern.md', 'old.eml', 'walrus.txt']);
      const job = await ingest(bench, mailWith({ ...walrus, content: 'The walrus wakes.' }));
      assert.deepEqual(await countOf(bench, job), [2, 2, 0]);
      assert.deepEqual(await titles(bench), ['Berth', 'walrus.txt']);
      assert.deepEqual(await found(bench, 'lantern'), []);
      assert.equal(await textOf(bench, 'mail#attachment/walrus.txt'), 'The walrus wakes.');
      const deleted = (await bench.store.events()).filter(
        ({ kind }) => kind === 'document_deleted',
      );
      assert.equal(deleted.length, 2);
      assert.equal((await bench.store.rows('SELECT * FROM attachments')).length, 1);
      assert.equal((await bench.store.rows('SELECT * FROM texts')).length, 2);
    },
  ],
  [
    'a mail in which only a file has changed replaces that file, and nothing else',
    async (bench) => {
      await bench.start({}, { pipeline: setup().pipeline });
      await ingest(bench, mailWith(walrus, lantern));
      const job = await ingest(
        bench,
        mailWith({ ...walrus, content: 'The walrus wakes.' }, lantern),
      );
      assert.deepEqual(await countOf(bench, job), [2, 2, 0]);
      assert.equal(await textOf(bench, 'mail#attachment/walrus.txt'), 'The walrus wakes.');
      assert.deepEqual(await titles(bench), ['Berth', 'lantern.md', 'walrus.txt']);
    },
  ],
  [
    'an unchanged mail adds only files that the corpus lacks',
    async (bench) => {
      const engine = await bench.start({}, { pipeline: setup().pipeline });
      const mail = mailWith(walrus, lantern);
      await ingest(bench, mail);
      assert.deepEqual(await countOf(bench, await ingest(bench, mail)), [1, 1, 0]);
      const id = documentIdOf('ann', 'notes', 'mail#attachment/lantern.md');
      await engine.commands.deleteDocument('ann', id);
      assert.deepEqual(await titles(bench), ['Berth', 'walrus.txt']);
      assert.deepEqual(await countOf(bench, await ingest(bench, mail)), [2, 2, 0]);
      assert.deepEqual(await titles(bench), ['Berth', 'lantern.md', 'walrus.txt']);
      assert.deepEqual(await countOf(bench, await ingest(bench, mail, true)), [3, 3, 0]);
    },
  ],
  [
    'the files of a mail that was submitted earlier and read later are not added',
    async (bench) => {
      const { pipeline } = setup();
      const latch = makeLatch();
      const read = pipeline.steps.content_extracted as StepFunction;
      const held: StepFunction = async (context) => {
        const result = await read(context);
        if (context.item.id === slow?.ids[0]) await latch.opened;
        return result;
      };
      let slow: Submitted | undefined;
      const slowly = { ...pipeline, steps: { ...pipeline.steps, content_extracted: held } };
      slow = await submit(bench, mailWith(walrus, lantern));
      await bench.start({}, { pipeline: slowly });
      await ingest(bench, mailWith({ ...walrus, content: 'The walrus wakes.' }));
      latch.open();
      await bench.untilJob(slow, 'succeeded');
      assert.deepEqual(await countOf(bench, slow), [1, 1, 0]);
      assert.deepEqual(await titles(bench), ['Berth', 'walrus.txt']);
      assert.equal(await textOf(bench, 'mail#attachment/walrus.txt'), 'The walrus wakes.');
    },
  ],
  [
    'files that only a replaced version has leave the corpus when the mail is restored',
    async (bench) => {
      const { pipeline } = setup();
      const latch = makeLatch();
      const index = pipeline.steps.indexed as StepFunction;
      let slow: Submitted | undefined;
      const held: StepFunction = async (context) => {
        if (context.item.id === slow?.ids[0]) await latch.opened;
        return index(context);
      };
      await bench.start(
        {},
        { pipeline: { ...pipeline, steps: { ...pipeline.steps, indexed: held } } },
      );
      await ingest(bench, mailWith(walrus));
      slow = await submit(bench, mailWith({ ...walrus, content: 'The walrus wakes.' }, lantern));
      await bench.world.until('the other files', async () => {
        return (await titles(bench)).includes('lantern.md');
      });
      await ingest(bench, mailWith(walrus));
      latch.open();
      await bench.untilJob(slow, 'succeeded');
      assert.deepEqual(await titles(bench), ['Berth', 'walrus.txt']);
      assert.equal(await textOf(bench, 'mail#attachment/walrus.txt'), 'The walrus sleeps.');
    },
  ],
  [
    'a process that dies before its commit adds no files, and neither does its late report',
    async (bench) => {
      const { pipeline } = setup();
      const late: (() => Promise<unknown>)[] = [];
      const ledger = (own: Ledger): Ledger =>
        ledgerOver(own, {
          report: (report) => {
            if (!isReading(report)) return own.report(report);
            late.push(() => own.report(report));
            return new Promise(() => undefined);
          },
        });
      const first = await bench.start({}, { pipeline, ledger, pid: 7 });
      const job = await submit(bench, mailWith(walrus, lantern));
      await bench.world.until('the report', async () => late.length > 0);
      bench.abandon(first);
      bench.store.livingPids.delete(7);
      await bench.start({}, { pipeline, pid: 8 });
      await bench.untilJob(job, 'succeeded');
      assert.equal(await late[0]?.(), 'refused');
      assert.deepEqual(await countOf(bench, job), [3, 3, 0]);
      assert.equal((await bench.store.rows('SELECT id FROM items')).length, 3);
    },
  ],
  [
    'a process that dies after its commit has added the files once',
    async (bench) => {
      const { pipeline } = setup();
      let committed = 0;
      const ledger = (own: Ledger): Ledger =>
        ledgerOver(own, {
          report: async (report) => {
            const verdict = await own.report(report);
            if (!isReading(report)) return verdict;
            committed += 1;
            return new Promise(() => undefined);
          },
        });
      const first = await bench.start({}, { pipeline, ledger, pid: 7, places: 1 });
      const job = await submit(bench, mailWith(walrus, lantern));
      await bench.world.until('the commit', async () => committed > 0);
      bench.abandon(first);
      bench.store.livingPids.delete(7);
      await bench.start({}, { pipeline, pid: 8 });
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(await countOf(bench, job), [3, 3, 0]);
      assert.equal((await bench.store.rows('SELECT id FROM items')).length, 3);
    },
  ],
  [
    'a mail that is retried after it was read does not add its files again',
    async (bench) => {
      const { pipeline } = setup();
      let isBroken = true;
      const persisted: StepFunction = async (context) => {
        if (isBroken && context.item.source === 'mail') throw new TypeError('a defect');
        return pipeline.steps.persisted?.(context);
      };
      const broken = { ...pipeline, steps: { ...pipeline.steps, persisted } };
      const engine = await bench.start({}, { pipeline: broken });
      const job = await submit(bench, mailWith(walrus, lantern));
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(await countOf(bench, job), [3, 2, 1]);
      isBroken = false;
      await engine.commands.retry('ann', job.key);
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(await countOf(bench, job), [3, 3, 0]);
    },
  ],
  [
    'a mail is deleted with its files, in any of their states',
    async (bench) => {
      const engine = await bench.start({}, { pipeline: setup().pipeline });
      const attached = writeMail({ text: 'An older letter', files: [lantern] });
      const letter = { name: 'old.eml', content: attached, type: 'message/rfc822' };
      await submit(bench, mailWith(walrus, letter, unread));
      await bench.world.until('the end', async () => (await titles(bench)).length === 4);
      await engine.commands.deleteDocument('ann', documentIdOf('ann', 'notes', 'mail'));
      assert.deepEqual(await titles(bench), []);
      for (const table of ['attachments', 'texts', 'chunks']) {
        assert.deepEqual(await bench.store.rows(`SELECT * FROM ${table}`), [], table);
      }
    },
  ],
  [
    'a corpus with mails is deleted completely',
    async (bench) => {
      const engine = await bench.start({}, { pipeline: setup().pipeline });
      await ingest(bench, mailWith(walrus, lantern));
      await engine.commands.deleteCorpus('ann', 'notes');
      assert.deepEqual(await titles(bench), []);
      assert.deepEqual(await bench.store.rows('SELECT * FROM corpora'), []);
    },
  ],
];
