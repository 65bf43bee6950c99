/** What every store must do. Each database runs all of it, on a fresh store for every test. */
import { describe, test } from 'node:test';
import type { OpenStore, StoreTest } from '../support/store-fixture.ts';
import { claimTests } from './store/claim.ts';
import { deliveryTests } from './store/deliveries.ts';
import { documentTests } from './store/document.ts';
import { entityTests } from './store/entity.ts';
import { eventTests } from './store/event.ts';
import { fairnessTests } from './store/fairness.ts';
import { fetchTests } from './store/fetch.ts';
import { forwardCauseTests } from './store/forward-cause.ts';
import { gateTests } from './store/gate.ts';
import { idempotencyTests } from './store/idempotency.ts';
import { interventionTests } from './store/intervention.ts';
import { jobTests } from './store/job.ts';
import { keptShareTests } from './store/kept-share.ts';
import { migrationTests } from './store/migration.ts';
import { moveTests } from './store/move.ts';
import { parsedTests } from './store/parsed.ts';
import { reportTests } from './store/report.ts';
import { rescueTests } from './store/rescue.ts';
import { statementTests } from './store/statement.ts';
import { standingTests } from './store/system-views.ts';
import { tableTests } from './store/tables.ts';
import { transactionTests } from './store/transaction.ts';

const groups: Readonly<Record<string, readonly StoreTest[]>> = {
  statements: statementTests,
  transactions: transactionTests,
  migrations: migrationTests,
  tables: tableTests,
  moves: moveTests,
  claims: claimTests,
  reports: reportTests,
  events: eventTests,
  interventions: interventionTests,
  'parsed documents': parsedTests,
  gates: gateTests,
  standings: standingTests,
  fetching: fetchTests,
  rescues: rescueTests,
  jobs: jobTests,
  deliveries: deliveryTests,
  'idempotency keys': idempotencyTests,
  documents: documentTests,
  'kept shares': keptShareTests,
  entities: entityTests,
  fairness: fairnessTests,
  'forward causes': forwardCauseTests,
};

export function storeSuite(name: string, open: OpenStore): void {
  describe(name, () => {
    for (const [group, tests] of Object.entries(groups)) {
      describe(group, () => {
        for (const [title, run] of tests) test(title, async (t) => run(await open(t)));
      });
    }
  });
}
