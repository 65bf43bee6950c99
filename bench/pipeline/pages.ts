/**
 * Typical web pages: an article with paragraphs, lists, a table and code among menus, related links
 * and a footer. The same seed gives the same pages.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface PagesWanted {
  readonly directory: string;
  readonly count: number;
  /** Average words of the article. */
  readonly words: number;
  readonly seed: number;
}

export function writePages({ directory, count, words, seed }: PagesWanted): void {
  mkdirSync(directory, { recursive: true });
  const chance = chanceFrom(seed);
  for (let index = 0; index < count; index++) {
    writeFileSync(join(directory, `page-${index}.html`), pageOf(index, words, chance));
  }
}

type Chance = () => number;

/** Numbers from 0 to 1 by xorshift, which every JavaScript engine computes alike. */
export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

const vocabulary = `the of and to in for on with by from over after before without between under
river harbour engine ledger paper village market winter garden signal archive council bridge
measure account library teacher school train station field weather copper timber market railway
carries keeps shows follows measures builds repairs replaces returns explains collects delivers
early late small public careful heavy open common northern quiet modern broken reliable recent
people workers visitors engineers farmers readers children records documents pages reports results`
  .split(/\s+/)
  .filter((word) => word !== '');

const names = `Anna Weber|Lisbon|Vienna|Hamburg|Ruth Carter|Nakamura|Lindqvist|City Museum
University of Graz|Northern Company|March 2021`.split(/[|\n]/);
/** About as many as in news reports. */
const nameShare = 0.02;

function wordOf(chance: Chance): string {
  const words = chance() < nameShare ? names : vocabulary;
  return words[Math.floor(chance() * words.length)] ?? '';
}

function sentenceOf(chance: Chance): string {
  const length = 8 + Math.floor(chance() * 14);
  const words = Array.from({ length }, () => wordOf(chance));
  const [first = '', ...rest] = words;
  return `${first.charAt(0).toUpperCase()}${first.slice(1)} ${rest.join(' ')}.`;
}

export function paragraphOf(chance: Chance): string {
  return Array.from({ length: 3 + Math.floor(chance() * 4) }, () => sentenceOf(chance)).join(' ');
}

const wordsInParagraph = 65;

export function pageOf(index: number, words: number, chance: Chance): string {
  const paragraphs = Math.max(1, Math.round((words * (0.5 + chance())) / wordsInParagraph));
  const body = Array.from({ length: paragraphs }, (_, place) => {
    const heading = place % 4 === 0 ? `<h2>${sentenceOf(chance)}</h2>` : '';
    return `${heading}<p>${paragraphOf(chance)}</p>`;
  }).join('\n');
  const title = sentenceOf(chance);
  return `<!doctype html>
<html lang="en"><head><title>${title} - Bench Daily</title>
<meta name="description" content="${sentenceOf(chance)}"></head>
<body><nav><ul>${linksOf(12, chance)}</ul></nav>
<div class="layout"><aside class="sidebar"><ul>${linksOf(20, chance)}</ul></aside>
<main><article><h1>${title}</h1><p class="byline">By Anna Weber, ${index + 1} March 2026</p>
${body}
<ul>${Array.from({ length: 5 }, () => `<li>${sentenceOf(chance)}</li>`).join('')}</ul>
<table><tr><th>Year</th><th>Result</th></tr>${rowsOf(6, chance)}</table>
<pre><code>const total = entries.reduce((sum, each) => sum + each.amount, 0);</code></pre>
</article></main></div>
<footer><ul>${linksOf(15, chance)}</ul><p>All rights reserved. Privacy. Imprint.</p></footer>
</body></html>
`;
}

function linksOf(count: number, chance: Chance): string {
  const linkOf = (): string => {
    const word = vocabulary[Math.floor(chance() * vocabulary.length)] ?? '';
    return `<li><a href="/${word}">More about ${word}</a></li>`;
  };
  return Array.from({ length: count }, linkOf).join('');
}

function rowsOf(count: number, chance: Chance): string {
  const rowOf = (_: unknown, index: number): string => {
    const result = `${Math.floor(chance() * 1_000)} ${sentenceOf(chance)}`;
    return `<tr><td>${2000 + index}</td><td>${result}</td></tr>`;
  };
  return Array.from({ length: count }, rowOf).join('');
}
