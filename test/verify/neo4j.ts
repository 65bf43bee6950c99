/** The community edition of Neo4j, from Maven. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import neo4j from 'neo4j-driver';
import { findExecutable, freePort, startServer } from '../support/server.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { cached, runTool } from './cache.ts';
import type { Started, Target } from './target.ts';

const version = '5.26.0';
const password = 'test-password';
const main = fileURLToPath(new URL('./Neo4jServer.java', import.meta.url));

const project = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>pawl</groupId><artifactId>verify</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>${version}</version>
  </dependency></dependencies>
</project>
`;

const settings = (port: number): string => `server.bolt.enabled=true
server.bolt.listen_address=127.0.0.1:${port}
dbms.security.auth_enabled=true
dbms.usage_report.enabled=false
server.memory.pagecache.size=64m
`;

export const neo4jTarget: Target = { name: 'Neo4j Community', version, start };

async function start(t: Cleanup): Promise<Started> {
  const lib = cached(`neo4j-${version}`, (folder) => {
    writeFileSync(join(folder, 'pom.xml'), project);
    const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
    runTool('mvn', ['-q', '-B', ...copy], { cwd: folder });
  });
  const directory = temporaryDirectory(t);
  const port = await freePort();
  mkdirSync(join(directory, 'conf'));
  writeFileSync(join(directory, 'conf', 'neo4j.conf'), settings(port));
  const classes = ['-cp', join(lib, '*')];
  const setPassword = ['org.neo4j.cli.AdminTool', 'dbms', 'set-initial-password', password];
  const home = { NEO4J_HOME: directory, NEO4J_CONF: join(directory, 'conf') };
  runTool('java', [...classes, ...setPassword], { cwd: directory, env: home });
  const url = `bolt://127.0.0.1:${port}`;
  const server = await startServer({
    name: 'Neo4j',
    executable: findExecutable('java') ?? 'java',
    args: ['-Xmx512m', ...classes, main, directory],
    directory,
    ready: () => answers(url),
  });
  t.after(() => server.stop('SIGTERM'));
  return {
    environment: { PAWL_TEST_NEO4J_URL: url, PAWL_TEST_NEO4J_PASSWORD: password },
    suites: [{ name: 'entities', run: 'test/contract/sink-neo4j.test.ts' }],
  };
}

async function answers(url: string): Promise<boolean> {
  const driver = neo4j.driver(url, neo4j.auth.basic('neo4j', password));
  try {
    await driver.executeQuery('RETURN 1');
    return true;
  } finally {
    await driver.close();
  }
}
