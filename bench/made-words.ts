/** Documents of made-up words, so that no cache of words helps. From a seed. */
import { chanceFrom } from './pipeline/pages.ts';

type Chance = () => number;

interface Script {
  readonly first: string;
  readonly letters: number;
  readonly wordMin: number;
  readonly wordMax: number;
  readonly between: string;
  readonly end: string;
}

const scripts = {
  'made-up words': letters('a', 26, ' '),
  'made-up words, Cyrillic': letters('а', 32, ' '),
  'made-up words, Chinese': { ...letters('一', 5000, ''), wordMin: 1, wordMax: 4, end: '。' },
} as const satisfies Readonly<Record<string, Script>>;

export const madeKinds = Object.keys(scripts) as readonly (keyof typeof scripts)[];

export function* madeDocuments(
  kind: (typeof madeKinds)[number],
  characters: number,
): Generator<string, never> {
  const chance = chanceFrom(1 + madeKinds.indexOf(kind));
  for (;;) {
    let text = '';
    while (text.length < characters) {
      text += `${times(5, () => sentenceOf(scripts[kind], chance)).join('')}\n\n`;
    }
    yield text;
  }
}

function letters(first: string, count: number, between: string): Script {
  return { first, letters: count, wordMin: 3, wordMax: 12, between, end: '. ' };
}

function sentenceOf(script: Script, chance: Chance): string {
  const { between, end } = script;
  return times(8 + pick(14, chance), () => wordOf(script, chance)).join(between) + end;
}

function wordOf({ first, letters: count, wordMin, wordMax }: Script, chance: Chance): string {
  const letter = () => String.fromCharCode(first.charCodeAt(0) + pick(count, chance));
  return times(wordMin + pick(wordMax - wordMin + 1, chance), letter).join('');
}

function times<T>(length: number, make: () => T): T[] {
  return Array.from({ length }, make);
}

function pick(count: number, chance: Chance): number {
  return Math.floor(chance() * count);
}
