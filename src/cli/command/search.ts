/** `pawl search`: prints the best passages of a corpus. */
import { basename, relative } from 'node:path';
import type { AnswerOf, BodyOf } from '../../contract/contract.ts';
import type { Hit } from '../../contract/schema/schema.ts';
import type { Explanation } from '../../index.ts';
import { limits } from '../../kernel/limits/limits.ts';
import {
  answer,
  type Call,
  type Command,
  numberOf,
  refuseMissing,
  textOf,
  usageError,
  withStore,
} from '../command.ts';
import { filterFrom, filterOptions } from '../search-filter.ts';
import type { Terminal } from '../view/terminal.ts';
import { count, cut, cutPath, printable, wrap } from '../view/wording.ts';

export const search: Command = {
  name: 'search',
  summary: 'find passages in a corpus',
  usage: ['search CORPUS QUERY', 'search QUERY [--corpus NAME]'],
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
    explain: { type: 'boolean', meaning: 'show how each ranking scored a passage' },
    ...filterOptions,
  },
  examples: [
    'pawl search handbook "refund policy" --top-k 3',
    'pawl search handbook "on call" --where \'team = "ops" and year >= 2025\'',
    'pawl search site "opening hours" --site www.example.com --since 2026-01-01',
  ],
  run: async (call) => {
    const { corpus, query } = questionOf(call);
    const body = {
      corpus_name: corpus,
      query,
      top_k: numberOf(call.flags, 'top-k', { min: 1, max: limits.search.topKMax }),
      mode: call.flags.mode as BodyOf<'POST /search'>['mode'],
      explain: call.flags.explain === true,
      filter: filterFrom(call),
    };
    const found = await ask(call, body);
    return answer(call, found, () => {
      const { terminal } = call;
      const what = `${count(found.results.length, 'passage')} for “${query}” in ${corpus}`;
      terminal.print(terminal.paint('dim', `${what} · ${found.query_ms} ms`));
      for (const [index, hit] of found.results.entries()) {
        printHit(terminal, hit, index + 1, query);
      }
    });
  },
};

/** A local store is searched without the engine where that is possible. */
async function ask(call: Call, body: BodyOf<'POST /search'>): Promise<AnswerOf<'POST /search'>> {
  if (call.flags.url === undefined) {
    refuseMissing(call);
    const { openStoreSearch } = await import('../../app/store-search.ts');
    const store = await openStoreSearch(call.config);
    if (store) return store.ask('POST /search', { body }).finally(() => store.close());
  }
  return withStore(call, (pawl) => pawl.ask('POST /search', { body }));
}

/** The first argument is the corpus, unless --corpus names it or there is only one argument. */
function questionOf({ positionals, flags, config }: Call): {
  readonly corpus: string;
  readonly query: string;
} {
  const named = textOf(flags, 'corpus') ?? (positionals.length === 1 ? config.corpus : undefined);
  const [corpus = '', ...words] = named === undefined ? positionals : [named, ...positionals];
  const query = words.join(' ').trim();
  if (query !== '') return { corpus, query };
  throw usageError('pawl search needs a query', 'Write `pawl search CORPUS "the words to find"`.');
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
  const page = hit.page == null ? '' : ` · page ${hit.page}`;
  const path = cutPath(displayPath(hit.source_url), columns - page.length);
  terminal.print(`    ${terminal.paint('cyan', path)}${terminal.paint('dim', page)}`);
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
function displayPath(source: string): string {
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
