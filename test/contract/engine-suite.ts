/** What the engine must do on every store. */
import { describe, test } from 'node:test';
import { type EngineTest, openEngine } from '../support/engine-fixture.ts';
import { patience } from '../support/patience.ts';
import type { OpenStore } from '../support/store-fixture.ts';
import { aheadTests } from './engine/ahead.ts';
import { attachmentTests } from './engine/attachments.ts';
import { cheapLaneTests } from './engine/batch-lane.ts';
import { cheapBudgetTests } from './engine/batch-lane-budget.ts';
import { callerTests } from './engine/callers.ts';
import { completionTests } from './engine/completion.ts';
import { deadlineTests } from './engine/deadline.ts';
import { documentEngineTests } from './engine/document.ts';
import { figureTests } from './engine/figures.ts';
import { handoffTests } from './engine/handoff.ts';
import { handoffModelTests } from './engine/handoff-model.ts';
import { handoffOutageTests } from './engine/handoff-outage.ts';
import { handoffReplayTests } from './engine/handoff-replay.ts';
import { handoffVerdictTests } from './engine/handoff-verdict.ts';
import { handoverTests } from './engine/handover.ts';
import { historyTests } from './engine/history.ts';
import { interruptionTests } from './engine/interruption.ts';
import { moneyTests } from './engine/money.ts';
import { outcomeTests } from './engine/outcome.ts';
import { packingTests } from './engine/packing.ts';
import { rechunkTests } from './engine/rechunk.ts';
import { rechunkRaceTests } from './engine/rechunk-races.ts';
import { reembedTests } from './engine/reembed.ts';
import { relayTests } from './engine/relay.ts';
import { placeTests } from './engine/slots.ts';
import { stepTests } from './engine/step.ts';
import { stepServiceTests } from './engine/step-services.ts';
import { stuckTests } from './engine/stuck.ts';
import { suspectTests } from './engine/suspect.ts';

const groups: Readonly<Record<string, readonly EngineTest[]>> = {
  steps: stepTests,
  'steps that run ahead': aheadTests,
  outcomes: outcomeTests,
  figures: figureTests,
  interruptions: interruptionTests,
  places: placeTests,
  stepServices: stepServiceTests,
  handovers: handoverTests,
  'wall clock': deadlineTests,
  'stalled items': stuckTests,
  suspects: suspectTests,
  handoffs: handoffTests,
  'handoffs in an outage': handoffOutageTests,
  'repeated handoff requests': handoffReplayTests,
  'how handoffs end': handoffVerdictTests,
  'documents between services': handoffModelTests,
  documents: documentEngineTests,
  attachments: attachmentTests,
  money: moneyTests,
  'money in the batch lane': cheapLaneTests,
  'budgets in the batch lane': cheapBudgetTests,
  completions: completionTests,
  history: historyTests,
  packing: packingTests,
  're-embedding': reembedTests,
  're-chunking': rechunkTests,
  're-chunking beside other work': rechunkRaceTests,
  relay: relayTests,
  callers: callerTests,
};

export function engineSuite(name: string, open: OpenStore): void {
  describe(`engine on ${name}`, () => {
    for (const [group, tests] of Object.entries(groups)) {
      describe(group, () => {
        for (const [title, run] of tests) {
          test(title, { timeout: patience.testMs }, async (t) => run(await openEngine(open)(t)));
        }
      });
    }
  });
}
