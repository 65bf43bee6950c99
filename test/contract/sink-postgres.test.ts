import { after, before } from 'node:test';
import { PostgresStores } from '../support/postgres-stores.ts';
import { entityCase, vectorCase } from './sink/store-cases.ts';
import { sinkSuite } from './sink-suite.ts';

const stores = new PostgresStores();
before(() => stores.start());
after(() => stores.stop());

sinkSuite('Postgres, of vectors,', 'vectors', vectorCase(stores.open));
sinkSuite('Postgres, of entities,', 'entities', entityCase(stores.open));
