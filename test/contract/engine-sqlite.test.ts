import { openSqliteFile } from '../support/store-opener.ts';
import { engineSuite } from './engine-suite.ts';

engineSuite('SQLite', openSqliteFile);
