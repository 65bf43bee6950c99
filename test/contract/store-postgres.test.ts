import { after, before } from 'node:test';
import { PostgresStores } from '../support/postgres-stores.ts';
import { storeSuite } from './store-suite.ts';

// Statistics change query plans, and autovacuum gathers them at times of its own.
const stores = new PostgresStores({ settings: { autovacuum: 'off' } });
before(() => stores.start());
after(() => stores.stop());

storeSuite('Postgres', stores.open);
