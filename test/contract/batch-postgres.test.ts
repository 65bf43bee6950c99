import { after, before } from 'node:test';
import { PostgresStores } from '../support/postgres-stores.ts';
import { batchSuite } from './batch-suite.ts';

const stores = new PostgresStores();
before(() => stores.start());
after(() => stores.stop());

batchSuite('Postgres', stores.open);
