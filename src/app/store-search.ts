/**
 * Searches a store without the engine: a command that asks one question starts much faster. Only
 * for an embedded store with the current schema, and the model and index of this process. Others
 * are opened as a whole.
 */
import { join, resolve } from 'node:path';
import { localCaller } from '../access/caller.ts';
import { CorpusDirectory } from '../access/corpus-directory.ts';
import type { AnswerOf, Asked } from '../contract/contract.ts';
import { withQueryMemory } from '../provider/embedding/query-memory.ts';
import { staticEmbedder } from '../provider/embedding/static-embedder.ts';
import { Searcher } from '../search/search.ts';
import { searchRoute } from '../service/handler/search.ts';
import type { StoreAsk } from '../service/service.ts';
import type { Database } from '../store/driver/database.ts';
import { readSchemaVersion } from '../store/driver/health.ts';
import { migrations } from '../store/driver/migrate.ts';
import { openSqlite } from '../store/driver/sqlite.ts';
import type { Config } from './settings/config.ts';
import { realWorld } from './world.ts';

export interface StoreSearch {
  ask(name: 'POST /search', ...asking: Asked<'POST /search'>): Promise<AnswerOf<'POST /search'>>;
  close(): Promise<void>;
}

/** Undefined if the store, its schema or the settings need more than this. */
export async function openStoreSearch(config: Config): Promise<StoreSearch | undefined> {
  if (!isPlain(config)) return undefined;
  const world = realWorld();
  const database = openSqlite({ path: join(resolve(config.data), 'pawl.db'), world });
  try {
    if (!(await isCurrent(database))) {
      await database.close();
      return undefined;
    }
  } catch (error) {
    await database.close();
    throw error;
  }
  const embedder = withQueryMemory(staticEmbedder());
  const handlers = searchRoute({
    database,
    corpora: new CorpusDirectory(database, () => world.now()),
    searcher: new Searcher({ database, embedder }),
    audit: { emit: () => undefined },
    metrics: { seeSearch: () => undefined },
  });
  return {
    ask: (name, asking) => {
      const request = { caller: localCaller, ...asking };
      return handlers[name](request as StoreAsk<'POST /search'>);
    },
    close: () => database.close(),
  };
}

function isPlain({ databaseUrl, qdrantUrl, embedder, embedderUrl, failpoint }: Config): boolean {
  const others = [databaseUrl, qdrantUrl, embedderUrl, failpoint];
  return embedder === 'local' && others.every((setting) => setting === undefined);
}

async function isCurrent(database: Database): Promise<boolean> {
  return (await readSchemaVersion(database)) === migrations.at(-1)?.version;
}
