import { after, before } from 'node:test';
import { PostgresStores } from '../support/postgres-stores.ts';
import { storeSuite } from './store-suite.ts';

const stores = new PostgresStores();
before(() => stores.start());
after(() => stores.stop());

storeSuite('Postgres', stores.open);
