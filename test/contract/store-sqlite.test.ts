import { openSqliteFile, openSqliteMemory } from '../support/store-opener.ts';
import { storeSuite } from './store-suite.ts';

storeSuite('SQLite in a file', openSqliteFile);
storeSuite('SQLite in memory', openSqliteMemory);
