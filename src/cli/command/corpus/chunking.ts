/** `pawl corpora chunking`: the size and the overlap of the chunks of a corpus. */
import type { CorpusDetail } from '../../../contract/schema/schema.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { onlyArgument } from '../../action.ts';
import {
  answer,
  type Call,
  centsOf,
  numberOf,
  type Option,
  usageError,
  withStore,
} from '../../command.ts';
import { workOrLeave } from '../../view/follow.ts';
import { count, number } from '../../view/wording.ts';

export const chunkingOptions: Readonly<Record<'tokens' | 'overlap' | 'default', Option>> = {
  tokens: { type: 'string', value: 'N', meaning: 'the most tokens of a chunk' },
  overlap: {
    type: 'string',
    value: 'N',
    meaning: 'the most tokens that a chunk repeats of the one before it',
  },
  default: { type: 'boolean', meaning: 'the default size and overlap of chunks' },
};

/** Documents are searched as they are until their new chunks are complete. */
export function setChunking(call: Call, args: readonly string[]): Promise<number> {
  const name = onlyArgument(args, 'corpus');
  const change = changeOf(call);
  return withStore(call, async (pawl) => {
    const after = await pawl.newestEvent();
    const body = { ...change, budget_cents: centsOf(call.flags, 'budget-cents') };
    const params = { name };
    const set = await pawl.ask('POST /corpora/:name/chunking', { params, body });
    if (set.job_id !== null) return workOrLeave(call, pawl, await pawl.job(set.job_id), { after });
    return answer(call, set, `${set.name} has chunks of ${sizesOf(set)}; no document has others`);
  });
}

const { ownChunkTokensMin: min, ownChunkTokensMax: max } = limits.document;
const tokens = { min, max };

/** Without a flag, documents that still have earlier values are split again. */
function changeOf({ flags }: Call) {
  const chunk_tokens = numberOf(flags, 'tokens', tokens);
  const chunk_overlap_tokens = numberOf(flags, 'overlap', { min: 0, max: tokens.max / 2 });
  if (flags.default !== true) return { chunk_tokens, chunk_overlap_tokens };
  if (chunk_tokens === undefined && chunk_overlap_tokens === undefined) {
    return { chunk_tokens: null, chunk_overlap_tokens: null };
  }
  throw usageError('--default sets both values: leave out --tokens and --overlap');
}

type Sizes = Pick<CorpusDetail, 'chunk_tokens' | 'chunk_overlap_tokens'>;

function sizesOf({ chunk_tokens, chunk_overlap_tokens }: Sizes): string {
  const overlap =
    chunk_overlap_tokens === 0 ? 'without overlap' : `overlapping by ${chunk_overlap_tokens}`;
  return `up to ${count(chunk_tokens, 'token')}, ${overlap}`;
}

export function chunkingPairs(corpus: CorpusDetail): (readonly [string, string])[] {
  const open = corpus.documents_to_chunk;
  const rest = open === 0 ? '' : `; ${number(open)} with earlier values`;
  return [['chunk size', `${sizesOf(corpus)}${rest}`]];
}
