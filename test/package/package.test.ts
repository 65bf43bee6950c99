/** The package as users get it: packed, installed into an empty project, and used from there. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { build } from 'vite';
import { libraryProgram } from '../support/library-guide.ts';
import { npm } from '../support/npm.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tsc = join(root, 'node_modules/.bin/tsc');
const installedBytesMax = 180 * 1024 * 1024;

const folder = temporaryDirectory({ after });
/** A consumer's project, with nothing but Pawl in it. */
const project = join(folder, 'project');
let packed: readonly string[] = [];
let tarball = '';

function write(path: string, text: string): void {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), text);
}

/** Runs a program of the project and returns what it printed. */
function run(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { PATH } = process.env;
  const ended = spawnSync(process.execPath, [join(project, file), ...args], {
    cwd: project,
    encoding: 'utf8',
    env: { PATH, NO_COLOR: '1', ...env },
  });
  return { status: ended.status, out: ended.stdout, err: ended.stderr };
}

const pawl = 'node_modules/pawl/bin/pawl';

before(() => {
  execFileSync(process.execPath, [join(root, 'scripts/build.ts')], {
    stdio: 'inherit',
    env: { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}` },
  });
  const report = npm(root, 'pack', '--ignore-scripts', '--json', '--pack-destination', folder);
  const [{ filename, files }] = JSON.parse(report) as [
    { filename: string; files: { path: string }[] },
  ];
  packed = files.map(({ path }) => path);
  tarball = join(folder, filename);
  mkdirSync(project);
  write('package.json', '{ "name": "project", "private": true, "type": "module" }');
  npm(project, 'install', '--prefer-offline', tarball);
});

describe('the package', () => {
  test('holds no sources, tests, benchmarks or settings of the repository', () => {
    const allowed =
      /^(?:dist|bin|assets|samples|web\/dist)\/|^(?:package\.json|README\.md|LICENSE)$/;
    assert.deepEqual(
      packed.filter((path) => !allowed.test(path) || path.includes('.test.')),
      [],
    );
  });

  test('is correct for Node and for bundlers, as publint sees it', async () => {
    const { messages, pkg } = await publint({ pkgDir: join(project, 'node_modules/pawl') });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg)),
      [],
    );
  });

  test('has types for ES modules and bundlers at each entry point, as attw sees it', async () => {
    const found = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
    assert.ok(found.types);
    const { problems, entrypoints } = found;
    assert.equal(Object.keys(entrypoints).length, 7);
    // The package has ES modules only: `require` in TypeScript and Node 10 are not supported.
    const old = new Set<string | undefined>(['node10', 'node16-cjs']);
    const left = problems.filter((problem) => {
      return !('resolutionKind' in problem && old.has(problem.resolutionKind));
    });
    assert.deepEqual(left, []);
  });

  test('brings no Node and no driver of a server, and stays small', () => {
    for (const name of [
      '.bin/node',
      'pg',
      'bullmq',
      'ioredis',
      'neo4j-driver',
      'playwright-core',
    ]) {
      assert.equal(existsSync(join(project, 'node_modules', name)), false, name);
    }
    const files = globSync('node_modules/**/*', { cwd: project });
    const bytes = files.reduce((sum, path) => sum + statSync(join(project, path)).size, 0);
    assert.ok(bytes <= installedBytesMax, `${bytes} bytes are installed`);
  });
});

describe('an installed Pawl', () => {
  test('has a manual page', () => {
    const page = readFileSync(join(project, 'node_modules/pawl/dist/pawl.1'), 'utf8');
    assert.match(page, /^\.TH PAWL 1/);
    assert.match(page, /\.B pawl corpora delete CORPUS/);
  });

  test('ingests and searches from the command line', () => {
    const samples = join(project, 'node_modules/pawl/samples');
    const ingested = run(pawl, ['ingest', samples, '--corpus', 'docs', '--data', 'cli-store']);
    assert.equal(ingested.status, 0, ingested.err);
    const found = run(pawl, ['search', 'docs', 'refund', '--json', '--data', 'cli-store']);
    assert.equal(found.status, 0, found.err);
    assert.match(found.out, /Returns and refunds/);
  });

  test('checks itself, and names the package that a setting needs', () => {
    const checked = run(pawl, ['doctor', '--data', 'cli-store']);
    assert.equal(checked.status, 0, checked.out + checked.err);
    assert.doesNotMatch(checked.out + checked.err, /npm install/);
    const needed = {
      PAWL_REDIS_URL: 'redis://127.0.0.1:9',
      PAWL_DATABASE_URL: 'postgres://127.0.0.1:9/x',
      PAWL_NEO4J_URL: 'bolt://127.0.0.1:9',
    };
    for (const [name, value] of Object.entries(needed)) {
      const { status, out, err } = run(pawl, ['doctor', '--data', 'cli-store'], { [name]: value });
      assert.equal(status, 1, name);
      assert.match(out + err, /run `npm install (?:ioredis|pg|neo4j-driver)`/, name);
    }
  });

  test('reads formats whose parsers run in a process of their own', () => {
    cpSync(join(root, 'test/samples/format/quarter.pdf'), join(project, 'quarter.pdf'));
    const { status, out, err } = run(pawl, ['extract', 'quarter.pdf']);
    assert.equal(status, 0, err);
    assert.notEqual(out.trim(), '');
  });

  test('is a library for plain JavaScript', () => {
    write(
      'library.js',
      `import { open } from 'pawl';
      const pawl = await open({ data: 'library-store' });
      const documents = [{ id: 'a.md', text: '# Tides\\n\\nThe moon moves the sea.' }];
      const job = await pawl.ingest(documents, { corpus: 'notes' });
      await job.wait();
      const [hit] = await pawl.search('notes', 'moon');
      console.log(hit.title);
      await pawl.close();`,
    );
    const { status, out, err } = run('library.js', []);
    assert.deepEqual([status, out.trim()], [0, 'Tides'], err);
  });

  for (const [module, resolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ] as const) {
    test(`has types for a strict project with the resolution ${resolution}`, () => {
      write(
        'typed.ts',
        `import { open, type Hit, type Pawl } from 'pawl';
        import { Client } from 'pawl/client';
        import { embedderConformance } from 'pawl/testing';
        import type { EmbedderPort, StepPort } from 'pawl';
        export const suite: typeof embedderConformance = embedderConformance;
        export const parts: { embedder?: EmbedderPort; steps?: StepPort[] } = {};
        const pawl: Pawl = await open({ data: 'store' });
        const hits: readonly Hit[] = await pawl.search('docs', 'refund');
        const title: string | null | undefined = hits[0]?.title;
        export const client = new Client({ url: 'http://127.0.0.1:7300' });
        console.log(title);`,
      );
      write('guide.ts', libraryProgram());
      const types = join(root, 'node_modules/@types');
      const args = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2024'];
      const { status, stdout } = spawnSync(
        tsc,
        [...args, '--module', module, '--moduleResolution', resolution, '--types', 'node'].concat(
          '--typeRoots',
          types,
          'typed.ts',
          'guide.ts',
        ),
        { cwd: project, encoding: 'utf8' },
      );
      assert.deepEqual([status, stdout], [0, '']);
    });
  }

  test('runs the examples of the guide', () => {
    write('guide/guide.ts', libraryProgram());
    const { status, out, err } = run('guide/guide.ts', []);
    assert.equal(status, 0, err);
    assert.match(out, /succeeded 2 done, 0 failed/);
  });

  test('has a client that a bundler builds for the browser', async () => {
    write('page.js', "import { Client } from 'pawl/client'; globalThis.client = Client;");
    const output = await build({
      root: project,
      configFile: false,
      logLevel: 'error',
      build: { write: false, rollupOptions: { input: join(project, 'page.js') } },
    });
    const [built] = [output].flat();
    assert.ok(built !== undefined && 'output' in built);
    const code = built.output.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join('');
    assert.notEqual(code, '');
    assert.equal(/["']node:/.test(code), false, 'the bundle imports a module of Node');
  });

  test('answers as an MCP server', () => {
    const message = (id: number, method: string, params: object) =>
      `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
    const clientInfo = { name: 'test', version: '1' };
    const input =
      message(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }) +
      message(2, 'tools/list', {});
    const { stdout, stderr } = spawnSync(process.execPath, [join(project, pawl), 'mcp'], {
      cwd: project,
      encoding: 'utf8',
      input,
    });
    assert.match(stdout, /"name":"search"/, stderr);
  });

  test('names the package to install where a driver is missing', () => {
    const env = { PAWL_DATABASE_URL: 'postgres://127.0.0.1:1/pawl' };
    const { status, err } = run(pawl, ['jobs'], env);
    assert.notEqual(status, 0);
    assert.match(err, /the package pg is not installed: run `npm install pg`/);
  });

  test('says which version it is', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    assert.equal(run(pawl, ['--version']).out.trim(), version);
  });
});
