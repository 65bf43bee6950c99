/** `pawl search`: prints the best passages of a corpus. */
import { basename, relative } from 'node:path';
import type { AnswerOf, BodyOf } from '../../contract/contract.ts';
import type { Found, Hit } from '../../contract/schema/search.ts';
import type { Explanation } from '../../index.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { facetForms } from '../../search/facet.ts';
import { answer, type Call, type Command, numberOf, refuseMissing, withStore } from '../command.ts';
import { filterFrom, filterOptions } from '../search-filter.ts';
import {
  facetsOf,
  questionOf,
  rankingFrom,
  rankingOptions,
  scoreOf,
  withCorpusAdvice,
} from '../search-form.ts';
import type { Terminal } from '../view/terminal.ts';
import { count, cut, cutPath, printable, wrap } from '../view/wording.ts';

export const search: Command = {
  name: 'search',
  summary: 'find passages in a corpus',
  usage: ['search CORPUS[,CORPUS…] QUERY', 'search QUERY [--corpus NAME]'],
  options: {
    corpus: {
      type: 'string',
      short: 'c',
      value: 'NAME',
      meaning: 'the corpus, if it is not the first argument (PAWL_CORPUS, or default)',
    },
    'top-k': {
      type: 'string',
      short: 'k',
      value: 'N',
      meaning: `number of results: ${limits.search.topKDefault}, or up to ${limits.search.topKMax}`,
    },
    mode: {
      type: 'string',
      short: 'm',
      value: 'MODE',
      choices: ['hybrid', 'vector', 'keyword'],
      meaning: 'hybrid, vector or keyword',
    },
    offset: { type: 'string', value: 'N', meaning: 'skip the first N results' },
    'min-score': { type: 'string', value: 'X', meaning: 'least relevance, from 0 to 1' },
    facets: { type: 'string', value: 'A,B', meaning: `counts by ${facetForms}` },
    near: { type: 'boolean', meaning: 'also show the nearest passages if no word occurs' },
    ...rankingOptions,
    explain: { type: 'boolean', meaning: 'show how each ranking scored a passage' },
    ...filterOptions,
  },
  examples: [
    'pawl search handbook "refund policy" --top-k 3',
    'pawl search handbook "on call" --where \'team = "ops" and year >= 2025\'',
    'pawl search handbook,wiki "refund policy" --group document --facets type,metadata.team',
    'pawl search site "opening hours" --site www.example.com --since 2026-01-01',
  ],
  run: async (call) => {
    const { corpora, names, query } = questionOf(call, 'search');
    const body = {
      ...corpora,
      ...rankingFrom(call),
      query,
      top_k: numberOf(call.flags, 'top-k', { min: 1, max: limits.search.topKMax }),
      offset: numberOf(call.flags, 'offset', { min: 0, max: limits.search.offsetMax }),
      min_score: scoreOf(call.flags['min-score']),
      facets: facetsOf(call.flags.facets),
      near: call.flags.near === true,
      mode: call.flags.mode as BodyOf<'POST /search'>['mode'],
      explain: call.flags.explain === true,
      filter: filterFrom(call),
    };
    const searched = withAnswer(call, body, (found) =>
      answer(call, found, () => {
        const { terminal } = call;
        const { length } = found.results;
        const of = found.total > length ? ` of ${found.total}` : '';
        const what = `${count(length, 'passage')}${of} for “${query}” in ${names}`;
        terminal.print(terminal.paint('dim', `${what} · ${found.query_ms} ms`));
        for (const [index, hit] of found.results.entries()) {
          printHit(terminal, hit, index + 1 + (body.offset ?? 0), query);
        }
        printMore(terminal, found);
      }),
    );
    return withCorpusAdvice(call, 'search', searched);
  },
};

/** A local store is searched without the engine where that is possible. */
async function withAnswer(
  call: Call,
  body: BodyOf<'POST /search'>,
  print: (found: AnswerOf<'POST /search'>) => number,
): Promise<number> {
  if (call.flags.url === undefined) {
    refuseMissing(call);
    const { openStoreSearch } = await import('../../app/store-search.ts');
    const onError = (what: string, error: unknown): void => {
      const why = error instanceof Error ? error.message : String(error);
      call.terminal.tell(`${what} failed: ${why}`);
    };
    const store = await openStoreSearch(call.config, { onError });
    if (store) {
      try {
        const code = print(await store.ask('POST /search', { body }));
        // After the answer: the next search of a large corpus is faster.
        await store.keep();
        return code;
      } finally {
        await store.close();
      }
    }
  }
  return print(await withStore(call, (pawl) => pawl.ask('POST /search', { body })));
}

function printMore(
  terminal: Terminal,
  { results, facets, did_you_mean: other, reranked }: Found,
): void {
  for (const [name, counts] of Object.entries(facets)) {
    const shown = counts
      .slice(0, 8)
      .map(({ value, count: n }) => `${printable(String(value))} ${n}`);
    terminal.print();
    terminal.print(`${terminal.paint('bold', name)}  ${shown.join(' · ')}`);
  }
  if (reranked?.failure) {
    const why = `${reranked.model} did not order these results: ${reranked.failure.detail}`;
    terminal.print();
    terminal.print(terminal.paint('yellow', printable(why)));
  }
  if (other !== null) terminal.print(`Did you mean “${printable(other)}”?`);
  if (results.length > 0 || other !== null) return;
  terminal.print('No passage has these words. --near shows the nearest passages.');
}

const linesMax = 3;
const columnsMax = 96;

function printHit(terminal: Terminal, hit: Hit, place: number, query: string): void {
  const columns = Math.min(terminal.columns(), columnsMax) - 4;
  const heading = hit.heading.split(' > ').filter((part) => part !== '' && part !== hit.title);
  const name = printable([hit.title ?? basename(hit.source_url), ...heading].join(' › '));
  const score = hit.score.toFixed(2);
  terminal.print();
  const title = cut(name, columns - score.length - 2);
  const fill = ' '.repeat(Math.max(columns - title.length - score.length, 2));
  const shownScore = `${fill}${terminal.paint('dim', score)}`;
  terminal.print(`${String(place).padStart(2)}  ${terminal.paint('bold', title)}${shownScore}`);
  const more = hit.more_in_document > 0 ? ` · ${hit.more_in_document} more in this document` : '';
  const page = hit.page == null ? '' : ` · page ${hit.page}`;
  const notes = `${page}${hit.near ? ' · near' : ''}${more}`;
  const path = cutPath(displayPath(hit.source_url), columns - notes.length);
  terminal.print(`    ${terminal.paint('cyan', path)}${terminal.paint('dim', notes)}`);
  const lines = wrap(excerpt(hit.text, query, columns * linesMax), columns).slice(0, linesMax);
  for (const line of lines) terminal.print(`    ${highlight(terminal, line, query)}`);
  if (hit.explanation)
    terminal.print(terminal.paint('dim', `    ${explained(hit.explanation as Explanation)}`));
}

function explained({ parts, terms }: Explanation): string {
  const lists = parts.map(
    ({ list, rank, scaled, weight }) => `${list} ${weight} × ${scaled.toFixed(2)} (rank ${rank})`,
  );
  return `${lists.join(' + ')} · ${terms.join(', ') || 'no match in the text'}`;
}

/** A path below the working directory is shown relative to it. */
export function displayPath(source: string): string {
  const path = relative(process.cwd(), source);
  const isBelow = source.startsWith('/') && !path.startsWith('..');
  return printable(isBelow ? path : source);
}

function wordPattern(query: string): RegExp | undefined {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu);
  if (!words) return undefined;
  // A plural in the query also highlights the singular, and the reverse.
  const stems = words.map((word) => (word.length > 4 ? word.replace(/(es|s|ing|ed)$/, '') : word));
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${stems.join('|')})[\\p{L}]*`, 'giu');
}

/** The part of a passage around the first highlight, without its heading lines. */
function excerpt(text: string, query: string, characters: number): string {
  const body = printable(text.replace(/^#{1,6} .*$/gm, ''))
    .replace(/\s+/g, ' ')
    .trim();
  const found = body.search(wordPattern(query) ?? /$/);
  if (body.length <= characters || found < characters / 2) return cut(body, characters);
  const start = body.indexOf(' ', Math.max(found - Math.floor(characters / 3), 0)) + 1;
  return cut(`… ${body.slice(start)}`, characters);
}

function highlight(terminal: Terminal, line: string, query: string): string {
  const pattern = wordPattern(query);
  return pattern ? line.replace(pattern, (word) => terminal.paint(['bold', 'yellow'], word)) : line;
}
