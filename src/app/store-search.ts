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
import { hasSchema, readSchemaVersion } from '../store/driver/health.ts';
import { migrations } from '../store/driver/migrate.ts';
import { openSqlite } from '../store/driver/sqlite.ts';
import { type SavedIndexesOptions, savedIndexes } from './saved-indexes.ts';
import type { Config } from './settings/config.ts';
import { realWorld } from './world.ts';

export interface StoreSearch {
  ask(name: 'POST /search', ...asking: Asked<'POST /search'>): Promise<AnswerOf<'POST /search'>>;
  /** Saves the indexes of large corpora that were searched, for the next process. */
  keep(): Promise<void>;
  close(): Promise<void>;
}

/** Undefined if the store, its schema or the settings need more than this. */
export async function openStoreSearch(
  config: Config,
  indexes: Pick<SavedIndexesOptions, 'onError' | 'chunksMin'>,
): Promise<StoreSearch | undefined> {
  if (!isPlain(config)) return undefined;
  const world = realWorld();
  const data = resolve(config.data);
  const database = openSqlite({ path: join(data, 'pawl.db'), world });
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
  const corpora = new CorpusDirectory(database, () => world.now());
  const saved = savedIndexes({ ...indexes, data, database });
  const searcher = new Searcher({ database, embedder, saved });
  const handlers = searchRoute({
    database,
    corpora,
    searcher,
    audit: { emit: () => undefined },
    metrics: { seeSearch: () => undefined },
  });
  return {
    ask: (name, asking) => {
      const request = { caller: localCaller, ...asking };
      return handlers[name](request as StoreAsk<'POST /search'>);
    },
    keep: () => searcher.keep(),
    close: async () => {
      await saved?.close();
      await database.close();
    },
  };
}

function isPlain({ embedder, reranker, ...config }: Config): boolean {
  const { databaseUrl, qdrantUrl, embedderUrl, failpoint } = config;
  const others = [databaseUrl, qdrantUrl, embedderUrl, failpoint];
  const isLocal = embedder === 'local' && reranker === 'off';
  return isLocal && others.every((setting) => setting === undefined);
}

async function isCurrent(database: Database): Promise<boolean> {
  if (!(await hasSchema(database))) return false;
  return (await readSchemaVersion(database)) === migrations.at(-1)?.version;
}
