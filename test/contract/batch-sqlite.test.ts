import { openSqliteMemory } from '../support/store-opener.ts';
import { batchSuite } from './batch-suite.ts';

batchSuite('SQLite', openSqliteMemory);
