import { after, before } from 'node:test';
import { PostgresStores } from '../support/postgres-stores.ts';
import { engineSuite } from './engine-suite.ts';

const stores = new PostgresStores();
before(() => stores.start());
after(() => stores.stop());

engineSuite('Postgres', stores.open);
