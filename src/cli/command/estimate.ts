/** `pawl ingest --estimate`: estimates the cost before anything is paid or stored. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CrawlInput, Estimate, EstimateRange } from '../../index.ts';
import { sessionOf } from '../../library/internal.ts';
import type { NewSource } from '../../store/job/submit.ts';
import { answer, type Call, storePath, usageError, withPawl } from '../command.ts';
import { printPairs } from '../view/table.ts';
import { count, duration, money, number } from '../view/wording.ts';

export async function estimate(
  call: Call,
  sources: readonly NewSource[],
  options: { readonly corpus: string; readonly crawl: CrawlInput | undefined },
): Promise<number> {
  if (call.flags.url !== undefined) {
    throw usageError(
      'an estimate runs on this machine: remove --url, and use the settings of the service',
    );
  }
  const found = await withAnyStore(call, (placed) =>
    withPawl(placed, { work: false }, (pawl) => sessionOf(pawl).estimate(sources, options)),
  );
  return answer(call, estimateShape(found), () => print(call, found));
}

/** Read commands never create a store. Without one, the estimate uses a temporary empty store. */
async function withAnyStore<T>(call: Call, use: (call: Call) => Promise<T>): Promise<T> {
  const { config } = call;
  if (config.databaseUrl !== undefined || existsSync(storePath(config))) return use(call);
  const data = await mkdtemp(join(tmpdir(), 'pawl-estimate-'));
  try {
    return await use({ ...call, config: { ...config, data } });
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

function print({ terminal }: Call, found: Estimate): void {
  const { documents, tokens, tokensSaved, cents, seconds } = found;
  const read = found.isSampled
    ? `${count(found.filesRead, 'file')} read as a sample`
    : `${count(found.filesRead, 'file')} read`;
  printPairs(terminal, [
    ['documents', `${rangeOf(documents, number)} (${read})`],
    ...(found.unchanged > 0 ? [['unchanged', `${number(found.unchanged)} of them`] as const] : []),
    ...(found.unreadable > 0
      ? [['not readable', `${number(found.unreadable)} of them: pawl extract shows why`] as const]
      : []),
    ['model', found.model],
    ['tokens', rangeOf(tokens, number)],
    ...(tokensSaved > 0 ? [['saved', `${count(tokensSaved, 'token')} already paid`] as const] : []),
    ...extractionPairs(found.extraction),
    ['cost', cents ? rangeOf(cents, money) : unknownCost(found)],
    ['time', `about ${rangeOf(seconds, (value) => duration(value * 1000))}`],
    ['spent so far', 'nothing; nothing is stored'],
  ]);
}

function unknownCost({ extraction }: Estimate): string {
  return `unknown: set PAWL_EMBEDDER_PRICE${extraction ? ' and PAWL_EXTRACTOR_PRICE' : ''}`;
}

function extractionPairs(extraction: Estimate['extraction']): (readonly [string, string])[] {
  if (!extraction) return [];
  const { model, tokensIn, tokensOut, tokensSaved } = extraction;
  const tokens = `${rangeOf(tokensIn, number)} in, ${rangeOf(tokensOut, number)} out`;
  return [
    ['entities by', model],
    ['extraction tokens', tokens],
    ...(tokensSaved > 0 ? [['saved', `${count(tokensSaved, 'token')} already paid`] as const] : []),
  ];
}

function rangeOf({ least, likely, most }: EstimateRange, say: (value: number) => string): string {
  if (say(least) === say(most)) return say(likely);
  return `${say(likely)} (from ${say(least)} to ${say(most)})`;
}

function estimateShape(found: Estimate) {
  return {
    model: found.model,
    documents: found.documents,
    files_read: found.filesRead,
    sampled: found.isSampled,
    unchanged: found.unchanged,
    unreadable: found.unreadable,
    tokens: found.tokens,
    tokens_saved: found.tokensSaved,
    extraction: found.extraction && {
      model: found.extraction.model,
      tokens_in: found.extraction.tokensIn,
      tokens_out: found.extraction.tokensOut,
      tokens_saved: found.extraction.tokensSaved,
    },
    cost_cents: found.cents,
    seconds: found.seconds,
  };
}
