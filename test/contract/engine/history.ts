import assert from 'node:assert/strict';
import { Failure, type FailureCode } from '../../../src/kernel/failure/failure.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import type { EngineTest } from '../../support/engine-fixture.ts';
import { failing } from './step.ts';

/** One code of each kind of failure. */
const kinds: readonly [code: FailureCode, kind: string][] = [
  ['http_429', 'rate_limited'],
  ['http_5xx', 'transient'],
  ['step_output_invalid', 'schema_invalid'],
  ['http_404', 'fatal'],
];

export const historyTests: readonly EngineTest[] = [
  [
    'every start, completion, failure and scheduled retry of a step is one event',
    async (bench) => {
      await bench.start({ fetched: failing(1, () => new Failure('http_5xx', 'down')) });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'succeeded');
      const story = (await bench.store.story()).filter((line) => line.endsWith(' fetched'));
      assert.deepEqual(story, [
        'step_started fetched',
        'step_failed fetched',
        'retry_scheduled fetched',
        'step_started fetched',
        'step_completed fetched',
      ]);
    },
  ],
  ...kinds.map(
    ([code, kind]): EngineTest => [
      `the event of a step that failed with ${code} has the kind of its error`,
      async (bench) => {
        await bench.start({ fetched: failing(1, () => new Failure(code, 'no')) });
        await bench.store.submit();
        await bench.untilStory('step_failed fetched');
        const failed = (await bench.store.events()).find((event) => event.kind === 'step_failed');
        assert.deepEqual([failed?.detail?.code, failed?.detail?.error_kind], [code, kind]);
      },
    ],
  ),
  [
    'a lease lost to silence is in the history as timeout_soft',
    async ({ store }) => {
      const { ids } = await store.submit();
      await store.register('far', 7, 'elsewhere');
      await store.claim(1, 'far');
      store.world.skip(limits.lease.ttlMs + 1);
      assert.equal(await store.rescue(), 1);
      const lost = (await store.events()).find((event) => event.kind === 'lease_lost');
      assert.deepEqual([lost?.itemId, lost?.detail?.code], [ids[0], 'timeout_soft']);
      assert.equal((await store.item(ids[0])).waits_on, 'turn');
    },
  ],
];
