/** A Neo4j for a test: the one whose address is given, or the fake one. */
import neo4j from 'neo4j-driver';
import { realWorld } from '../../../src/app/world.ts';
import { openNeo4j } from '../../../src/sink/neo4j.ts';
import { currentEntities } from '../../../src/sink/neo4j-statements.ts';
import { BoltServer } from '../../support/neo4j/bolt-server.ts';
import { hangSignal } from '../../support/patience.ts';
import { openSqliteMemory } from '../../support/store-opener.ts';
import type { Cleanup } from '../../support/temporary.ts';
import type { SinkCase } from './bench.ts';

/** A real server to run the same tests against, without data of Pawl: that is removed. */
export const realNeo4j = process.env.PAWL_TEST_NEO4J_URL;
const user = process.env.PAWL_TEST_NEO4J_USER ?? 'neo4j';
const password = process.env.PAWL_TEST_NEO4J_PASSWORD ?? 'test-password';

export async function openNeo4jCase(t: Cleanup): Promise<SinkCase & { server?: BoltServer }> {
  const server = realNeo4j === undefined ? await new BoltServer().start(t) : undefined;
  if (server) server.password = password;
  const url = realNeo4j ?? server?.url ?? '';
  const sink = openNeo4j({ url, user, password, world: realWorld() });
  const options = { disableLosslessIntegers: true };
  const reader = neo4j.driver(url, neo4j.auth.basic(user, password), options);
  const clear = () => sink.tidy(async () => [], hangSignal());
  if (!server) await clear();
  t.after(async () => {
    if (!server) await clear();
    await Promise.all([reader.close(), sink.close()]);
  });
  const store = await openSqliteMemory(t);
  const seen: SinkCase['seen'] = async (of) => {
    const limit = neo4j.int(1000);
    const { records } = await reader.executeQuery(currentEntities, { ...of, limit });
    return records.map((record) => String(record.get('name'))).sort();
  };
  const kept = async (): Promise<string[]> => {
    if (server) return [...server.graph.entities.values()].map(({ name }) => name).sort();
    const { records } = await reader.executeQuery('MATCH (e:PawlEntity) RETURN e.name AS name');
    return records.map((record) => String(record.get('name'))).sort();
  };
  // The fake server reads snapshots; a real one does not.
  const own = server ? { server } : { mayMiss: true };
  return { name: 'neo4j', keeps: 'entities', isLater: true, store, sink, seen, kept, ...own };
}
