import { openSqliteFile } from '../support/store-opener.ts';
import { entityCase, vectorCase } from './sink/store-cases.ts';
import { sinkSuite } from './sink-suite.ts';

sinkSuite('SQLite, of vectors,', 'vectors', vectorCase(openSqliteFile));
sinkSuite('SQLite, of entities,', 'entities', entityCase(openSqliteFile));
