/**
 * Fits the weights of `src/pipeline/entity/weights.ts` to the even documents of a labelled text,
 * and measures the whole extractor, with the weights that are in place, on both halves.
 *
 *   node scripts/fit-entity-weights.ts wikigold.conll.txt          measures
 *   node scripts/fit-entity-weights.ts wikigold.conll.txt --write  fits, and writes the table
 *
 * The text is WikiGold (Balasuriya and others, 2009, CC BY 4.0), in the format of CoNLL.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { blocksOf } from '../src/pipeline/chunk/block.ts';
import { evidenceOf } from '../src/pipeline/entity/evidence.ts';
import { readLexicon } from '../src/pipeline/entity/lexicon.ts';
import { extractEntities } from '../src/pipeline/entity/local-extractor.ts';
import { Scanner } from '../src/pipeline/entity/scan.ts';
import { nameKinds } from '../src/pipeline/entity/weights.ts';
import { type Labelled, readConll } from './conll.ts';

const rounds = 400;
const penalty = 2;
const table = new URL('../src/pipeline/entity/weights.ts', import.meta.url);
const typed = ['person', 'organization', 'location'];

const [, , input, flag] = process.argv;
if (input === undefined) {
  console.error('usage: node scripts/fit-entity-weights.ts CONLL [--write]');
  process.exit(64);
}
const lexicon = await readLexicon();
const documents = readConll(input);
const half = (rest: number) => documents.filter((_, index) => index % 2 === rest);
if (flag === '--write') writeTable(fit(half(0).flatMap(samplesOf)));
else {
  console.log(`fitted on  ${measure(half(0))}`);
  console.log(`held out   ${measure(half(1))}`);
}

interface Sample {
  readonly facts: readonly string[];
  readonly kind: number;
}

function samplesOf({ text, spans }: Labelled): Sample[] {
  const scanner = new Scanner(text, lexicon);
  const candidates = [...blocksOf(text)].flatMap((block) => scanner.scan(block));
  const inside = candidates.filter(({ opensSentence }) => !opensSentence);
  const seenInside = new Set(inside.map(({ words }) => words.join(' ')));
  return candidates.map((candidate) => {
    const same = spans.find(({ start, end }) => start === candidate.start && end === candidate.end);
    const kind = nameKinds.findIndex((name) => name === (same?.kind ?? 'none'));
    return { facts: evidenceOf(candidate, { text, lexicon, seenInside }), kind };
  });
}

/** Logistic regression over all kinds, with a quadratic penalty, by adaptive gradient steps. */
function fit(samples: readonly Sample[]): Map<string, number[]> {
  const zeros = () => nameKinds.map(() => 0);
  const names = [...new Set(samples.flatMap(({ facts }) => facts))].sort();
  const weights = new Map(names.map((name) => [name, zeros()]));
  const squares = new Map(names.map((name) => [name, nameKinds.map(() => 1e-6)]));
  for (let round = 0; round < rounds; round += 1) {
    const gradient = new Map(names.map((name) => [name, zeros()]));
    for (const { facts, kind } of samples) {
      const scores = zeros().map((_, k) => facts.reduce((sum, f) => sum + at(weights, f, k), 0));
      const exponents = scores.map((score) => Math.exp(score - Math.max(...scores)));
      const total = exponents.reduce((sum, value) => sum + value, 0);
      exponents.forEach((value, k) => {
        for (const fact of facts) add(gradient, fact, k, value / total - (k === kind ? 1 : 0));
      });
    }
    for (const name of names) {
      nameKinds.forEach((_, k) => {
        const slope = at(gradient, name, k) + penalty * at(weights, name, k);
        add(squares, name, k, slope * slope);
        add(weights, name, k, (-0.5 * slope) / Math.sqrt(at(squares, name, k)));
      });
    }
  }
  return weights;
}

function at(rows: ReadonlyMap<string, readonly number[]>, name: string, kind: number): number {
  return rows.get(name)?.[kind] ?? 0;
}

function add(rows: Map<string, number[]>, name: string, ...[kind, value]: [number, number]): void {
  const row = rows.get(name);
  if (row) row[kind] = (row[kind] ?? 0) + value;
}

function writeTable(weights: ReadonlyMap<string, readonly number[]>): void {
  const rows = [...weights].map(([name, row]) => {
    const rounded = row.map((value) => Math.round(value * 10) / 10 + 0);
    return `  ${JSON.stringify(name)}: [${rounded.join(', ')}],`;
  });
  const [head = ''] = readFileSync(table, 'utf8').split(/(?<=> = \{\n)/);
  writeFileSync(table, `${head}${rows.join('\n')}\n};\n`);
  console.log(`${weights.size} facts; format with: npx biome check --write src`);
}

function measure(documents: readonly Labelled[]): string {
  const counts = { typed: [0, 0, 0], spans: [0, 0, 0] };
  const count = (row: number[], place: number) => {
    row[place] = (row[place] ?? 0) + 1;
  };
  for (const { text, spans } of documents) {
    const labels = new Map(spans.map(({ start, end, kind }) => [`${start} ${end}`, kind]));
    for (const kind of labels.values()) {
      count(counts.spans, 2);
      if (typed.includes(kind)) count(counts.typed, 2);
    }
    for (const { kind, mentions } of extractEntities(text, lexicon).entities) {
      if (![...typed, 'name', 'nationality'].includes(kind)) continue;
      for (const { start, end } of mentions) {
        const label = labels.get(`${start} ${end}`);
        count(counts.spans, 1);
        if (label !== undefined) count(counts.spans, 0);
        if (typed.includes(kind)) count(counts.typed, 1);
        if (typed.includes(kind) && label === kind) count(counts.typed, 0);
      }
    }
  }
  return `with kind ${figures(counts.typed)}   spans ${figures(counts.spans)}`;
}

function figures([right = 0, found = 0, labelled = 0]: readonly number[]): string {
  const shares = [right / found, right / labelled, (2 * right) / (found + labelled)];
  return `P/R/F1 ${shares.map((share) => share.toFixed(3)).join(' ')}`;
}
