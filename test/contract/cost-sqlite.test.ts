import { openSqliteFile } from '../support/store-opener.ts';
import { costSuite } from './cost-suite.ts';

const most = {
  alone: { statements: 80, commits: 3, roundTrips: 0, writes: 0, bytes: 250_000 },
  together: { statements: 50, commits: 0.1, roundTrips: 0, writes: 0, bytes: 22_000 },
  services: { statements: 124, commits: 16, roundTrips: 0, writes: 0, bytes: 600_000 },
};

costSuite('SQLite', openSqliteFile, { most, leastShare: 0.5 });
