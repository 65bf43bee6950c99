/** Writes docs/generated/ from the code. `test/generated.test.ts` fails when the two differ. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { generatedPages } from './generated-pages.ts';

const folder = fileURLToPath(new URL('../docs/generated/', import.meta.url));

mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(generatedPages())) {
  writeFileSync(`${folder}${name}`, text);
  console.log(`docs/generated/${name}`);
}
