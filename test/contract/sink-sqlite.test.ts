import { openSqliteFile } from '../support/store-opener.ts';
import { entityCase, vectorCase } from './sink/store-cases.ts';
import { sinkSuite } from './sink-suite.ts';

sinkSuite('SQLite, of vectors,', 'vectors', { open: vectorCase(openSqliteFile) });
sinkSuite('SQLite, of entities,', 'entities', { open: entityCase(openSqliteFile) });
