import { after, before } from 'node:test';
import { PostgresStores } from '../support/postgres-stores.ts';
import { costSuite } from './cost-suite.ts';

// Vacuum writes to the log, too, at times of its own.
const stores = new PostgresStores({ settings: { autovacuum: 'off' } });
before(() => stores.start());
after(() => stores.stop());

// How reports are grouped depends on when the server answers, so the bounds have room, and a low
// count says nothing.
const most = {
  alone: { statements: 70, commits: 8, roundTrips: 50, writes: 55, bytes: 36_000 },
  together: { statements: 24, commits: 0.8, roundTrips: 18, writes: 18, bytes: 30_000 },
  services: { statements: 120, commits: 24, roundTrips: 100, writes: 105, bytes: 52_000 },
};

costSuite('Postgres', stores.open, { most, leastShare: 0 });
