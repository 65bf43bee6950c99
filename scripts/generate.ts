/**
 * Writes docs/generated/ from the code, and builds the workbench into web/dist/. The tests
 * `test/generated.test.ts` and `test/web-build.test.ts` fail if the committed files differ.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { viteOptions } from '../web/vite-options.ts';
import { generatedPages } from './generated-pages.ts';

const folder = fileURLToPath(new URL('../docs/generated/', import.meta.url));

mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(generatedPages())) {
  writeFileSync(`${folder}${name}`, text);
  console.log(`docs/generated/${name}`);
}

const built = fileURLToPath(new URL('../web/dist/', import.meta.url));
await build(viteOptions(built));
console.log('web/dist/');
