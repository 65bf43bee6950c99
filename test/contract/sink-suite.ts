/** What readers are guaranteed, for every store of vectors and entities. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { limits } from '../../src/kernel/limits/limits.ts';
import { patience } from '../support/patience.ts';
import type { Cleanup } from '../support/temporary.ts';
import { notes, SinkBench, type SinkCase } from './sink/bench.ts';

type SinkTest = readonly [title: string, run: (bench: SinkBench) => Promise<void>];

const tests: readonly SinkTest[] = [
  [
    'a generation is visible when it is current, and not while it is only written',
    async (bench) => {
      const id = await bench.make('page', ['walrus', 'lantern']);
      await bench.run('persisted', id);
      assert.deepEqual(await bench.seen(), []);
      await bench.run('indexed', id);
      assert.deepEqual(await bench.seen(), bench.case.isLater ? [] : ['lantern', 'walrus']);
      await bench.run('done', id);
      assert.deepEqual(await bench.seen(), ['lantern', 'walrus']);
    },
  ],
  [
    'the new generation replaces the old one atomically, and the old one is removed',
    async (bench) => {
      await bench.publish('page', ['walrus', 'lantern']);
      const id = await bench.make('page', ['rain']);
      await bench.run('persisted', id);
      assert.deepEqual(await bench.seen(), ['lantern', 'walrus']);
      await bench.run('indexed', id);
      const { isLater = false } = bench.case;
      assert.deepEqual(await bench.seen(), isLater ? ['lantern', 'walrus'] : ['rain']);
      await bench.run('done', id);
      assert.deepEqual(await bench.seen(), ['rain']);
      assert.deepEqual((await bench.case.kept?.()) ?? ['rain'], ['rain']);
    },
  ],
  [
    'every step may run again after it was done',
    async (bench) => {
      await bench.publish('page', ['walrus']);
      const id = await bench.make('page', ['rain', 'roof']);
      for (const step of ['persisted', 'persisted', 'indexed', 'done', 'done'] as const) {
        await bench.run(step, id);
      }
      assert.deepEqual(await bench.seen(), ['rain', 'roof']);
      assert.deepEqual((await bench.case.kept?.()) ?? ['rain', 'roof'], ['rain', 'roof']);
    },
  ],
  [
    'a submission that took longer than a newer one is never visible',
    async (bench) => {
      const slow = await bench.make('page', ['old']);
      await bench.run('persisted', slow);
      await bench.publish('page', ['new']);
      await bench.run('indexed', slow);
      assert.deepEqual(await bench.seen(), ['new']);
      await bench.run('done', slow);
      assert.deepEqual(await bench.seen(), ['new']);
      assert.deepEqual((await bench.case.kept?.()) ?? ['new'], ['new']);
    },
  ],
  [
    'a deleted document is no longer visible, and all others are',
    async (bench) => {
      await bench.publish('page', ['walrus']);
      await bench.publish('other', ['lantern']);
      await bench.sinkSync();
      await bench.remove('page');
      if (!bench.case.isLater) assert.deepEqual(await bench.seen(), ['lantern']);
      await bench.sinkSync();
      assert.deepEqual(await bench.seen(), ['lantern']);
      assert.deepEqual((await bench.case.kept?.()) ?? ['lantern'], ['lantern']);
    },
  ],
  [
    'a document that is deleted and submitted again is visible in its new version',
    async (bench) => {
      await bench.sinkSync();
      await bench.publish('page', ['walrus']);
      await bench.remove('page');
      await bench.publish('page', ['rain']);
      await bench.sinkSync();
      assert.deepEqual(await bench.seen(), ['rain']);
      assert.deepEqual((await bench.case.kept?.()) ?? ['rain'], ['rain']);
    },
  ],
  [
    'callers and corpora see only their own documents, and a deletion affects one of them',
    async (bench) => {
      const others = [
        { caller: 'bob', corpus: 'notes' },
        { caller: 'ann', corpus: 'notes.2' },
      ];
      await bench.publish('page', ['walrus']);
      for (const [index, of] of others.entries()) await bench.publish('page', [`it-${index}`], of);
      await bench.sinkSync();
      assert.deepEqual(await bench.seen(), ['walrus']);
      await bench.endJobs();
      await bench.store.commands.deleteCorpus(notes.caller, notes.corpus);
      await bench.sinkSync();
      assert.deepEqual(await bench.seen(), []);
      for (const [index, of] of others.entries()) {
        assert.deepEqual(await bench.seen(of), [`it-${index}`]);
      }
      const kept = ['it-0', 'it-1'];
      assert.deepEqual((await bench.case.kept?.()) ?? kept, kept);
    },
  ],
  [
    'a document with more chunks than one request holds is visible completely',
    async (bench) => {
      const labels = Array.from(
        { length: limits.sink.batchMax * 2 + 1 },
        (_, index) => `label-${String(index).padStart(4, '0')}`,
      );
      await bench.publish('page', labels);
      await bench.sinkSync();
      assert.deepEqual(await bench.seen(), labels);
    },
  ],
  [
    'readers during replacements see one generation, never both and never none',
    async (bench) => {
      await bench.publish('page', ['g0']);
      await bench.sinkSync();
      const generations = 12;
      let isWriting = true;
      const writing = (async () => {
        for (let index = 1; index <= generations; index += 1) {
          await bench.publish('page', [`g${index}`]);
        }
      })().finally(() => {
        isWriting = false;
      });
      let reads = 0;
      let newest = 0;
      while (isWriting) {
        const seen = await bench.seen();
        if (seen.length === 0 && bench.case.mayMiss) continue;
        assert.equal(seen.length, 1, `seen: ${seen.join()}`);
        const generation = Number(seen[0]?.slice(1));
        assert.ok(generation >= newest, `${generation} after ${newest}`);
        newest = generation;
        reads += 1;
        // An embedded store answers synchronously: the writer must get its turn.
        await setImmediate();
      }
      await writing;
      assert.ok(reads > 0);
      assert.deepEqual(await bench.seen(), [`g${generations}`]);
    },
  ],
];

const vectorTests: readonly SinkTest[] = [
  [
    'a filter on headings is exact, within a document too',
    async (bench) => {
      await bench.publish('page', ['walrus', 'lantern', 'rain']);
      await bench.publish('other', ['walrus-like', 'roof']);
      await bench.sinkSync();
      assert.deepEqual(await bench.seen(notes, 'walrus'), ['walrus', 'walrus-like']);
      assert.deepEqual(await bench.seen(notes, 'nothing'), []);
    },
  ],
];

/** `skip`: why it cannot be tested here, if it cannot. */
export function sinkSuite(
  name: string,
  keeps: SinkCase['keeps'],
  { open, skip }: { open: (t: Cleanup) => Promise<SinkCase>; skip?: string | undefined },
): void {
  describe(`what ${name} keeps`, () => {
    for (const [title, run] of keeps === 'vectors' ? [...tests, ...vectorTests] : tests) {
      const options = { timeout: patience.testMs, skip: skip ?? false };
      test(title, options, async (t) => run(new SinkBench(await open(t))));
    }
  });
}
