/** Two S3-compatible servers, built by Go from their own sources. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { credentials } from '../support/s3-server.ts';
import { freePort, startServer } from '../support/server.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { cached, runTool } from './cache.ts';
import type { Started, Target } from './target.ts';

interface Kind {
  readonly name: string;
  readonly version: string;
  readonly module: string;
  readonly program: string;
  args(folder: string, port: number): readonly string[];
  /** Whether objects are files, so that a test can make one look old. */
  readonly isFolder: boolean;
}

const kinds: readonly Kind[] = [
  {
    name: 'MinIO',
    version: 'v0.0.0-20260212201848-7aac2a2c5b7c',
    module: 'github.com/minio/minio',
    program: 'minio',
    args: (folder, port) => ['server', folder, '--address', `127.0.0.1:${port}`, '--quiet'],
    isFolder: false,
  },
  {
    name: 'Versity S3 Gateway',
    version: 'v1.8.0',
    module: 'github.com/versity/versitygw/cmd/versitygw',
    program: 'versitygw',
    args: (folder, port) => ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', folder],
    isFolder: true,
  },
];

const { accessKeyId, secretAccessKey, region } = credentials;
const settings = {
  MINIO_ROOT_USER: accessKeyId,
  MINIO_ROOT_PASSWORD: secretAccessKey,
  MINIO_SITE_REGION: region,
  ROOT_ACCESS_KEY_ID: accessKeyId,
  ROOT_SECRET_ACCESS_KEY: secretAccessKey,
  VGW_REGION: region,
};

export const s3Targets: readonly Target[] = kinds.map((kind) => ({
  name: kind.name,
  version: kind.version,
  start: (t) => start(kind, t),
}));

async function start(kind: Kind, t: Cleanup): Promise<Started> {
  const { module, program, version } = kind;
  const home = cached(`${program}-${version}`, (folder) => {
    runTool('go', ['install', `${module}@${version}`], { env: { GOBIN: folder } });
  });
  Object.assign(process.env, settings);
  const directory = temporaryDirectory(t);
  const data = join(directory, 'data');
  mkdirSync(data);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = await startServer({
    name: kind.name,
    executable: join(home, program),
    args: kind.args(data, port),
    directory,
    ready: async () => (await fetch(url)).status === 403,
  });
  t.after(() => server.stop('SIGTERM'));
  const note = kind.isFolder
    ? {}
    : { note: 'without the tests of sweeping: they need old objects' };
  return {
    environment: { PAWL_TEST_S3_URL: url, ...(kind.isFolder && { PAWL_TEST_S3_FOLDER: data }) },
    suites: [{ name: 'blobs', run: 'test/contract/blob.test.ts', ...note }],
  };
}
