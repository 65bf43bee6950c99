/** `pawl why`: why a document is, or is not, in the results. */
import { resolve } from 'node:path';
import type { Why } from '../../contract/schema/schema.ts';
import { isUrl } from '../../source/sources.ts';
import { onlyArgument } from '../action.ts';
import { answer, type Call, type Command, textOf, withStore } from '../command.ts';
import { printPairs } from '../view/table.ts';
import type { Style } from '../view/terminal.ts';
import { bytes, cut, printable } from '../view/wording.ts';

export const why: Command = {
  name: 'why',
  summary: 'why a document is, or is not, in the search results',
  usage: ['why SOURCE [--corpus NAME] [--query TEXT]'],
  options: {
    corpus: {
      type: 'string',
      short: 'c',
      value: 'NAME',
      meaning: 'the corpus (PAWL_CORPUS, or default)',
    },
    query: { type: 'string', value: 'TEXT', meaning: 'show the best passage for this query' },
  },
  examples: [
    'pawl why https://example.com/prices --corpus site',
    'pawl why docs/prices.md --corpus docs --query "weekend rates"',
  ],
  run: async (call) => {
    const corpus = textOf(call.flags, 'corpus') ?? call.config.corpus;
    const source = sourceOf(call, onlyArgument(call.positionals, 'source'));
    const query = { corpus_name: corpus, url: source, query: textOf(call.flags, 'query') };
    const found = await withStore(call, ({ ask }) => ask('GET /why', { query }));
    return answer(call, found, () => printWhy(call, found));
  },
};

/** A local path is resolved. A service knows a source by the name under which it was sent. */
function sourceOf({ flags }: Call, text: string): string {
  const isName = isUrl(text) || /^(inline|upload):/.test(text) || flags.url !== undefined;
  return isName ? text : resolve(text);
}

const styles: Partial<Record<Why['verdict'], Style>> = {
  searchable: 'green',
  replacing: 'green',
  pending: 'yellow',
  failed: 'red',
};

function printWhy({ terminal }: Call, answer: Why): void {
  const { verdict, explanation, document, provenance, chunk, item } = answer;
  const mark = terminal.paint(styles[verdict] ?? 'dim', verdict);
  terminal.print(`${mark}  ${printable(answer.url)}`);
  terminal.print(printable(explanation));
  terminal.print();
  printPairs(terminal, [
    ...pair('title', document?.title),
    ...pair(
      'generation',
      provenance && `${provenance.generation}, from item ${provenance.item_id}`,
    ),
    ...pair('content', provenance?.content_hash),
    ...pair(
      'fetched',
      provenance?.fetched_at && `${provenance.fetched_at} from ${provenance.fetched_from}`,
    ),
    ...pair('raw bytes', provenance?.blob_key && bytesOf(provenance)),
    ...pair('indexed', provenance?.indexed_at),
    ...pair('said', item?.error?.message),
    ...pair('job', provenance?.job_id ?? item?.job_id),
    ...pair('passage', chunk && cut(chunk.text.replace(/\s+/g, ' '), 300)),
  ]);
}

function bytesOf({ blob_key, bytes: size, media_type }: NonNullable<Why['provenance']>): string {
  return `${bytes(size ?? 0)} of ${media_type}, blob ${blob_key}`;
}

function pair(name: string, text: string | null | undefined): [string, string][] {
  return text ? [[name, printable(text)]] : [];
}
