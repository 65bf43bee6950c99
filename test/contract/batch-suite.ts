/** What batch tasks must do on every store, with providers that behave like real ones. */
import { describe, test } from 'node:test';
import { azureTranscriber } from '../../src/provider/batch/vendor/azure.ts';
import { openaiBatches } from '../../src/provider/batch/vendor/openai.ts';
import { AzureServer } from '../support/batch/azure-server.ts';
import { BatchFixture, endpointOf } from '../support/batch/fixture.ts';
import { OpenaiServer } from '../support/batch/openai-server.ts';
import { patience } from '../support/patience.ts';
import type { OpenStore } from '../support/store-fixture.ts';
import type { Cleanup } from '../support/temporary.ts';
import { hostileTests } from './batch/hostile.ts';
import { laneTests } from './batch/lane.ts';
import { lifecycleTests } from './batch/lifecycle.ts';
import { taskMoveTests } from './batch/move.ts';
import { servingTests } from './batch/serving.ts';
import { submissionTests } from './batch/submission.ts';
import { windDownTests } from './batch/wind-down.ts';

export interface BatchBench extends BatchFixture {
  readonly azure: AzureServer;
  readonly openai: OpenaiServer;
  readonly cleanup: Cleanup;
}

export type BatchTest = readonly [title: string, run: (bench: BatchBench) => Promise<void>];

const groups: Readonly<Record<string, readonly BatchTest[]>> = {
  submission: submissionTests,
  moves: taskMoveTests,
  'poll and finalize': lifecycleTests,
  'hostile replies': hostileTests,
  'the batch lane': laneTests,
  'several processes and providers': servingTests,
  'abandoned tasks': windDownTests,
};

export function batchSuite(name: string, open: OpenStore): void {
  describe(`batch tasks on ${name}`, () => {
    for (const [group, tests] of Object.entries(groups)) {
      describe(group, () => {
        for (const [title, run] of tests) {
          test(title, { timeout: patience.testMs }, async (t) => {
            const azure = new AzureServer();
            const openai = new OpenaiServer();
            await Promise.all([azure.start(t), openai.start(t)]);
            const fixture = new BatchFixture(await open(t), [
              azureTranscriber(endpointOf(azure.server.url)),
              openaiBatches(endpointOf(openai.url)),
            ]);
            await run(Object.assign(fixture, { azure, openai, cleanup: t }));
          });
        }
      });
    }
  });
}
