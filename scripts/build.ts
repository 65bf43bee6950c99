/**
 * Builds the package: `src/` as JavaScript with declarations in `dist/`. The folders stay the same,
 * so that the paths to `assets/`, `samples/` and `web/dist/` hold in both.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadAll } from '../src/cli/commands.ts';
import { manPage } from './man-page.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
execFileSync('tsc', ['-p', join(root, 'tsconfig.build.json'), '--pretty', 'false'], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
writeFileSync(join(dist, 'pawl.1'), manPage(await loadAll(), version));
for (const path of globSync('**/*.js', { cwd: dist })) renameModules(join(dist, path));

/** The compiler renames imports, but not the modules that threads and processes start with. */
function renameModules(path: string): void {
  const text = readFileSync(path, 'utf8');
  const started = /((?:import\.meta\.resolve|new URL)\(\s*'\.[^'\n]*)\.ts'/g;
  const renamed = text.replace(started, "$1.js'");
  if (renamed !== text) writeFileSync(path, renamed);
}
