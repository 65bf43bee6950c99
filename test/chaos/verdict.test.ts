/** The verdict must be able to fail: each row corrupts a good store. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Assembled, assemble } from '../../src/app/wire.ts';
import { jobEnds } from '../../src/observe/event.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import type { DiaryLine, PaidCall } from './paid-twice.ts';
import type { Entry } from './submission-log.ts';
import { type Fault, judge } from './verdict.ts';
import { caller, corpus, type SourceVersion, textOf } from './workload.ts';

const contents: readonly SourceVersion[] = [
  { source: 2, version: 1 },
  { source: 4, version: 1 },
];
const paidCall: PaidCall = { pid: 1, at: 5, step: 'embedded', texts: 2, kept: [] };
const atStep = { pid: 1, step: 'embedded', source: 1 } as const;
const began = (seq: number, at = 1, itemId = 1): DiaryLine => ({
  ...{ ...atStep, itemId, kind: 'begun', at, seq },
});

interface Case {
  readonly name: string;
  readonly faults: readonly Fault[];
  /** What is changed in the store. */
  readonly spoil?: readonly string[];
  /** What else the submitter recorded. */
  readonly entries?: readonly Entry[];
  readonly calls?: readonly PaidCall[];
  readonly diary?: readonly DiaryLine[];
}

const newer = [{ source: 2, version: 2 }];
const newKey = { kind: 'accepted', jobKey: 'none', itemIds: [9], contents: newer } as const;

const cases: readonly Case[] = [
  { name: 'nothing is found in a good store', faults: [], calls: [paidCall] },
  {
    name: 'a version that was only intended may be absent',
    faults: [],
    entries: [{ kind: 'intent', contents: newer }],
  },
  { name: 'an acknowledged job is absent', faults: ['lost'], entries: [newKey] },
  {
    name: 'an item is absent',
    faults: ['lost', 'miscounted'],
    spoil: ['DELETE FROM items WHERE id = 2'],
  },
  {
    name: 'an input is cut',
    faults: ['lost'],
    spoil: ["UPDATE inputs SET body = 'cut', packed = NULL WHERE item_id = 2"],
  },
  {
    name: 'a document is absent',
    faults: ['lost'],
    spoil: ["DELETE FROM documents WHERE source = 'source-2'"],
  },
  {
    name: 'a chunk is absent',
    faults: ['lost', 'duplicated', 'miscounted'],
    spoil: ['DELETE FROM chunks WHERE id = 1'],
  },
  {
    name: 'a vector is absent',
    faults: ['lost'],
    spoil: ['DELETE FROM vectors WHERE generation_id = 1 AND ordinal = 0'],
  },
  {
    name: 'a chunk is not searchable',
    faults: ['lost'],
    spoil: ['DELETE FROM chunk_search WHERE rowid = 1'],
  },
  {
    name: 'a chunk is there twice',
    faults: ['duplicated', 'lost', 'miscounted'],
    spoil: [
      `INSERT INTO chunks SELECT 99, key, document_id, generation_id, 9, heading, text,
        start_offset, end_offset, token_count, page FROM chunks WHERE id = 1`,
    ],
  },
  {
    name: 'a replaced generation remains',
    faults: ['duplicated'],
    spoil: [
      'CREATE TABLE twin AS SELECT * FROM items WHERE id = 1',
      'UPDATE twin SET id = 9',
      'INSERT INTO items SELECT * FROM twin',
      'UPDATE jobs SET items_total = 3, items_done = 3',
      `INSERT INTO chunks SELECT 99, key, document_id, 9, ordinal, heading, text, start_offset,
        end_offset, token_count, page FROM chunks WHERE id = 1`,
    ],
  },
  {
    name: 'a step was completed twice',
    faults: ['duplicated', 'miscounted'],
    spoil: [
      `INSERT INTO events SELECT 1000, at, kind, job_id, item_id, step, attempt, worker, detail
        FROM events WHERE kind = 'step_completed' LIMIT 1`,
    ],
  },
  {
    name: 'the history has a gap',
    faults: ['miscounted'],
    spoil: ['DELETE FROM events WHERE seq = 3'],
  },
  {
    name: 'two versions are shown at once',
    faults: ['mixed', 'lost'],
    spoil: ["UPDATE chunks SET text = replace(text, 'version1', 'version2') WHERE id = 1"],
  },
  {
    name: 'an item is open with nothing to move it',
    faults: ['stuck', 'miscounted', 'without cause'],
    spoil: ["UPDATE items SET step = 'enqueued', waits_on = 'turn' WHERE id = 2"],
  },
  {
    name: 'a document fails because of the deaths of others',
    faults: ['blamed', 'miscounted'],
    spoil: [
      `UPDATE items SET step = 'failed', error = '{"code":"crashed_repeatedly","message":"x"}'
        WHERE id = 1`,
    ],
  },
  { name: 'a job never ends', faults: ['stuck'], spoil: ["UPDATE jobs SET state = 'running'"] },
  { name: 'a job counts wrong', faults: ['miscounted'], spoil: ['UPDATE jobs SET items_done = 3'] },
  {
    name: 'a call was paid for a step that was done',
    faults: ['paid twice'],
    calls: [paidCall, { ...paidCall, kept: [{ source: 1, seq: 7 }] }],
    diary: [began(3), { ...atStep, itemId: 1, kind: 'ended', at: 2 }, began(7, 3)],
  },
  {
    name: 'a call was paid while another was answered',
    faults: [],
    calls: [{ ...paidCall, kept: [{ source: 1, seq: 7 }] }],
    diary: [began(6), began(9, 1, 2), began(9, 6, 3)],
  },
];

describe('the judge', () => {
  for (const { name, faults, spoil = [], entries = [], calls = [], diary = [] } of cases) {
    test(name, async (t) => {
      const { store, entry } = await goodStore(temporaryDirectory(t));
      t.after(() => store.close());
      for (const text of spoil) await store.database.write((tx) => tx.run({ text }));
      const evidence = { database: store.database, entries: [entry, ...entries], calls, diary };
      const found = new Set((await judge(evidence)).map(({ fault }) => fault));
      assert.deepEqual([...found].sort(), [...faults].sort());
    });
  }
});

/** One job with two documents, done. */
async function goodStore(data: string): Promise<{ store: Assembled; entry: Entry }> {
  const store = await assemble({ data });
  await store.engine.start();
  const ended = Promise.withResolvers<void>();
  const { stop } = await store.engine.relay.listen((events) => {
    if (events.some(({ kind }) => jobEnds.has(kind))) ended.resolve();
  });
  const sources = contents.map((content) => ({
    kind: 'inline' as const,
    source: `source-${content.source}`,
    input: { kind: 'markdown' as const, title: null, body: textOf(content) },
  }));
  const accepted = await store.engine.commands.submit({ caller, corpus, sources });
  await ended.promise;
  stop();
  await store.engine.stop();
  return { store, entry: { kind: 'accepted', contents, ...accepted } };
}
