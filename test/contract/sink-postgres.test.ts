import { after, before } from 'node:test';
import { whyNoPgvector } from '../support/postgres.ts';
import { PostgresStores } from '../support/postgres-stores.ts';
import { entityCase, pointCase, vectorCase } from './sink/store-cases.ts';
import { sinkSuite } from './sink-suite.ts';

const stores = new PostgresStores({ pgvector: true });
before(() => stores.start());
after(() => stores.stop());

sinkSuite('Postgres, of vectors,', 'vectors', { open: vectorCase(stores.open) });
sinkSuite('Postgres, of entities,', 'entities', { open: entityCase(stores.open) });

const skip = whyNoPgvector();
const all = pointCase(stores.open);
sinkSuite('Postgres with pgvector, by comparing all,', 'vectors', { open: all, skip });
const indexed = pointCase(stores.open, 0);
sinkSuite('Postgres with pgvector, by its index,', 'vectors', { open: indexed, skip });
