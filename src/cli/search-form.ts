/** The flags of `pawl search` and `pawl ask` as fields of their requests. */
import type { BodyOf } from '../contract/contract.ts';
import { Failure, toFailure } from '../kernel/failure/failure.ts';
import { facetForms, isFacetName } from '../search/facet.ts';
import { type ListName, listNames } from '../search/fusion.ts';
import { type Call, type Option, textOf, usageError } from './command.ts';

type Body = BodyOf<'POST /search'>;

export const rankingOptions: Readonly<Record<string, Option>> = {
  group: {
    type: 'string',
    value: 'HOW',
    choices: ['spread', 'document', 'none'],
    meaning: 'spread over documents (default), one result per document, or none',
  },
  weights: {
    type: 'string',
    value: 'LIST=N,…',
    meaning: `weights of hybrid search: of ${listNames.join(', ')}`,
  },
  plain: { type: 'boolean', meaning: 'quotation marks and - in the query are ordinary text' },
};

export function rankingFrom({ flags }: Call): Pick<Body, 'group' | 'weights' | 'syntax'> {
  const groups: Readonly<Record<string, Body['group']>> = { document: 'document', none: false };
  return {
    group: groups[textOf(flags, 'group') ?? ''],
    weights: weightsOf(textOf(flags, 'weights')),
    syntax: flags.plain === true ? 'plain' : undefined,
  };
}

export interface Asked {
  readonly corpora: Pick<Body, 'corpus_name' | 'corpus_names'>;
  /** For people. */
  readonly names: string;
  readonly query: string;
}

/**
 * The first argument is the corpus, unless --corpus names it or there is only one argument. Several
 * are separated by commas, which no name has.
 */
export function questionOf({ positionals, flags, config }: Call, command: 'search' | 'ask'): Asked {
  const named = textOf(flags, 'corpus') ?? (positionals.length === 1 ? config.corpus : undefined);
  const [corpus = '', ...words] = named === undefined ? positionals : [named, ...positionals];
  const query = words.join(' ').trim();
  const list = corpus.split(',').map((name) => name.trim());
  const corpora = list.length > 1 ? { corpus_names: list } : { corpus_name: corpus };
  if (query !== '') return { corpora, names: list.join(', '), query };
  const what = command === 'search' ? 'query' : 'question';
  const advice = `Write \`pawl ${command} CORPUS "the ${what}"\`.`;
  throw usageError(`pawl ${command} needs a ${what}`, advice);
}

/** One argument is the query, in the default corpus: it may have been meant as the corpus. */
export async function withCorpusAdvice<T>(
  { positionals, flags, config }: Call,
  command: 'search' | 'ask',
  asked: Promise<T>,
): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const failure = toFailure(error);
    const isDefault = positionals.length === 1 && textOf(flags, 'corpus') === undefined;
    if (failure.code !== 'corpus_unknown' || !isDefault) throw error;
    const advice =
      `The only argument is the query, for the corpus ${config.corpus}. ` +
      `Write \`pawl ${command} CORPUS "the query"\`; \`pawl corpora\` lists the corpora.`;
    throw new Failure(failure.code, failure.message, { cause: error, context: { advice } });
  }
}

export function scoreOf(given: unknown): number | undefined {
  if (given === undefined) return undefined;
  const score = Number(given);
  if (given !== '' && score >= 0 && score <= 1) return score;
  throw usageError(`--min-score is a number from 0 to 1, not ${given}`);
}

export function facetsOf(given: unknown): Body['facets'] {
  if (typeof given !== 'string') return undefined;
  const names = given.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !isFacetName(name));
  if (wrong === undefined) return names as Body['facets'];
  throw usageError(`--facets takes ${facetForms}, not ${JSON.stringify(wrong)}`);
}

function weightsOf(given: string | undefined): Body['weights'] {
  if (given === undefined) return undefined;
  const entries = given.split(',').map((entry): [ListName, number] => {
    const [, name = '', weight] = /^\s*(\w+)=(\d+(?:\.\d+)?)\s*$/.exec(entry) ?? [];
    const list = listNames.find((one) => one === name);
    if (list !== undefined) return [list, Number(weight)];
    const how = `Use ${listNames.join(', ')} with a number, such as keyword=1,vector=0.5.`;
    throw usageError(`--weights cannot have ${JSON.stringify(entry)}`, how);
  });
  return Object.fromEntries(entries);
}
