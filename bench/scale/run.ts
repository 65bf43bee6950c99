/**
 * From what one document costs to machines and disks, for a million documents a day and for a
 * billion. Measures nothing: see `measure.ts` for that.
 *
 *   node bench/scale/run.ts [--write]        --write puts it into docs/guide/scale.md
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { reportScale } from './report.ts';

const page = fileURLToPath(new URL('../../docs/guide/scale.md', import.meta.url));
const [from, to] = ['<!-- from bench/scale -->', '<!-- to here -->'];

if (process.argv.includes('--write')) {
  const [before = '', rest = ''] = readFileSync(page, 'utf8').split(from);
  const [, after] = rest.split(to);
  if (after === undefined) throw new Error(`${page} does not say where the tables belong`);
  writeFileSync(page, `${before}${from}\n\n${reportScale()}\n\n${to}${after}`);
} else {
  console.log(reportScale());
}
