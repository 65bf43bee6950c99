/** The program that the examples of docs/guide/library.md form. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './guide.ts';

/** Every TypeScript block of the guide, in its order. */
export function libraryProgram(): string {
  const page = readFileSync(join(root, 'docs/guide/library.md'), 'utf8');
  const blocks = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code);
  if (blocks.length === 0) throw new Error('the guide of the library has no examples');
  return blocks.join('\n');
}

/** The calls of an interface in src/library/surface.ts, by their names. */
export function callsOf(name: string): string[] {
  const text = readFileSync(join(root, 'src/library/surface.ts'), 'utf8');
  const [, body = ''] =
    new RegExp(`^(?:export )?interface ${name}\\b[^{]*\\{\\n(.*?)^\\}`, 'ms').exec(text) ?? [];
  return [...body.matchAll(/^ {2}(\w+)\(/gm)].map(([, call = '']) => call);
}
