/**
 * Draws the pictures in `docs/screenshots/` anew: the tests that show the pages draw them on their
 * way. Pictures that no test draws any more are removed.
 */
import { spawnSync } from 'node:child_process';
import { globSync, rmSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const drawing = ['pages', 'batch', 'reconnect', 'attempt', 'add', 'answer', 'search', 'document'];

const startedAt = Date.now();
const files = drawing.map((name) => `test/e2e/web-${name}.test.ts`);
const { status } = spawnSync(process.execPath, ['test/run.ts', ...files], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PAWL_SCREENSHOTS: '1' },
});
process.exitCode = status ?? 1;
if (status === 0) {
  for (const picture of globSync('docs/screenshots/*.png', { cwd: root })) {
    if (statSync(`${root}${picture}`).mtimeMs < startedAt) rmSync(`${root}${picture}`);
  }
}
