/**
 * The command `pawl` as a few files. Tests start it a thousand times, and half of what a short
 * command costs is to find and load a thousand modules. A bundle is built once for its sources.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, globSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';
import { bundleVariable } from './pawl-program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(root, 'node_modules/.cache');

/** Modules that a process or a thread starts with, or that one loads by its URL. */
const entries = [
  'src/cli/main.ts',
  'src/pipeline/extract/format/parse.ts',
  'src/pipeline/extract/process/parser-process.ts',
  'src/pipeline/thread/text-thread.ts',
  'src/queue/lock-thread.ts',
];

/** Builds it if it is not there, and tells the test files where it is. */
export async function bundlePawl(): Promise<void> {
  const folder = join(cache, `pawl-${keyOfSources()}`);
  if (!existsSync(folder)) await buildInto(folder);
  process.env[bundleVariable] = join(folder, 'main.mjs');
}

/** It contains the paths of this clone. */
function keyOfSources(): string {
  const hash = createHash('sha256').update(root);
  const own = fileURLToPath(import.meta.url);
  const files = globSync('src/**/*.ts', { cwd: root }).sort();
  for (const file of [...files, 'package-lock.json', own]) {
    hash.update(`\0${file}\0`).update(readFileSync(join(file === own ? '' : root, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

async function buildInto(folder: string): Promise<void> {
  const { build } = await import('vite');
  const draft = join(cache, `draft-${randomUUID()}`);
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    plugins: [places],
    ssr: { noExternal: [/^typebox/] },
    build: {
      ssr: true,
      outDir: draft,
      target: 'node24',
      minify: false,
      copyPublicDir: false,
      rolldownOptions: {
        input: Object.fromEntries(entries.map((path) => [basename(path, '.ts'), join(root, path)])),
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
      },
    },
  });
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true });
    // Another run was faster.
    if (!existsSync(folder)) throw error;
  }
}

/** Entries are started from the bundle, and all other files are found from the source. */
const places: Plugin = {
  name: 'places',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('.ts') || !code.includes('import.meta')) return undefined;
    const started =
      /(?:new URL|import\.meta\.resolve)\(\s*'(\.[^']*\.ts)'(?:, import\.meta\.url)?\)/g;
    const source = pathToFileURL(id).href;
    const parts: string[] = [];
    let end = 0;
    const other = (text: string) => text.replaceAll('import.meta.url', JSON.stringify(source));
    for (const match of code.matchAll(started)) {
      const [call, path = ''] = match;
      const isEntry = entries.some((entry) => new URL(path, source).pathname.endsWith(`/${entry}`));
      if (!isEntry) throw new Error(`${id} starts ${path}, which is not an entry of the bundle`);
      const url = `new URL('./${basename(path, '.ts')}.mjs', import.meta.url)`;
      parts.push(other(code.slice(end, match.index)), call.startsWith('new') ? url : `${url}.href`);
      end = match.index + call.length;
    }
    return { code: [...parts, other(code.slice(end))].join(''), map: null };
  },
};
