/** The addresses that text of a corpus is sent to, and the command that accepts changed ones. */
import { embedUse, type Origin } from '../../kernel/name/origin.ts';
import {
  forgetOrigin,
  listOrigins,
  type OriginRow,
  replaceOrigin,
} from '../../store/corpus/origins.ts';
import { type CorpusKey, getCorpusSettings } from '../../store/corpus/settings.ts';
import type { Reader, Transaction } from '../../store/driver/database.ts';

/** The configuration of this process. */
export interface ConfiguredOrigins {
  /** The address where a model would embed; undefined: in this process, or nowhere. */
  embedderOrigin(model: string): Origin | undefined;
  readonly extractorOrigin: Origin | undefined;
  readonly rerankerOrigin?: Origin | undefined;
  readonly answererOrigin?: Origin | undefined;
}

export interface CorpusOrigins {
  readonly recorded: readonly OriginRow[];
  /** The addresses that this process would use. */
  readonly configured: readonly OriginRow[];
}

export async function readOrigins(
  reader: Reader,
  { caller, corpus }: CorpusKey,
  { embedderOrigin, extractorOrigin, rerankerOrigin, answererOrigin }: ConfiguredOrigins,
): Promise<CorpusOrigins> {
  const key = { caller, corpus };
  const { model, next_model } = await getCorpusSettings(reader, key);
  const models = new Set([model, next_model].filter((name) => name !== null));
  const embedding = [...models].flatMap((name) => rowOf(embedUse(name), embedderOrigin(name)));
  const configured = [
    ...embedding,
    ...rowOf('entities', extractorOrigin),
    ...rowOf('rerank', rerankerOrigin),
    ...rowOf('answers', answererOrigin),
  ];
  return { recorded: await listOrigins(reader, key), configured };
}

/** From this commit on, text of the corpus is sent to the addresses configured here. */
export async function acceptOrigins(
  transaction: Transaction,
  key: CorpusKey,
  origins: ConfiguredOrigins,
): Promise<CorpusOrigins> {
  const { configured } = await readOrigins(transaction, key, origins);
  for (const row of configured) await replaceOrigin(transaction, { ...key, ...row });
  // Without a model nothing is sent: from now on rules find the entities.
  if (!origins.extractorOrigin) await forgetOrigin(transaction, { ...key, use: 'entities' });
  // The provider of a transcription depends on the recording: the next one records it.
  await forgetOrigin(transaction, { ...key, use: 'recordings' });
  return readOrigins(transaction, key, origins);
}

function rowOf(use: OriginRow['use'], origin: Origin | undefined): OriginRow[] {
  return origin ? [{ use, url: origin.url }] : [];
}
