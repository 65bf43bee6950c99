/**
 * Qdrant. Its server is in no package registry; its engine is, as its edge edition for Python. A
 * small server puts that engine behind the published HTTP interface.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, startServer } from '../support/server.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { cached, runTool } from './cache.ts';
import type { Started, Target } from './target.ts';

const version = '0.9.0';
/** The models of requests that were generated from the published interface. */
const client = '1.20.0';
const program = fileURLToPath(new URL('./qdrant-server.py', import.meta.url));

export const qdrantTarget: Target = { name: 'Qdrant Edge', version, start };

async function start(t: Cleanup): Promise<Started> {
  const home = cached(`qdrant-edge-${version}`, (folder) => {
    runTool('python3', ['-m', 'venv', folder]);
    const packages = [`qdrant-edge-py==${version}`, `qdrant-client==${client}`];
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    runTool(join(folder, 'bin', 'python'), [...install, ...packages]);
  });
  const directory = temporaryDirectory(t);
  const data = join(directory, 'data');
  mkdirSync(data);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = await startServer({
    name: 'Qdrant',
    executable: join(home, 'bin', 'python'),
    args: [program, String(port), data],
    directory,
    ready: async () => (await fetch(url)).ok,
  });
  t.after(() => server.stop('SIGTERM'));
  const note = 'the engine, behind an HTTP interface of the verification';
  const suites: [name: string, file: string][] = [
    ['vectors', 'test/contract/sink-qdrant.test.ts'],
    ['ports', 'test/contract/port-suites.test.ts'],
    ['filters', 'test/contract/metadata-filter.test.ts'],
    ['search', 'test/contract/search-ways.test.ts'],
  ];
  return {
    environment: { PAWL_TEST_QDRANT_URL: url },
    suites: suites.map(([name, run]) => ({ name, run, note })),
  };
}
