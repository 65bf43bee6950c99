import { openSqliteFile, openSqliteMemory } from '../support/store-opener.ts';
import { engineSuite } from './engine-suite.ts';

engineSuite('SQLite in a file', openSqliteFile);
engineSuite('SQLite in memory', openSqliteMemory);
