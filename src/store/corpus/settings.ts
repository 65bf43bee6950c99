/**
 * Settings of a whole corpus: the model that is searched, the next model, the budget, and how texts
 * are split into chunks. A corpus keeps the model it started with until it is re-embedded,
 * regardless of the configured one.
 */
import type { Reader, Transaction } from '../driver/database.ts';
import { first, hits, write } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';

export interface CorpusSettings {
  /** Null until the first document has been embedded. */
  readonly model: string | null;
  /** Set while the corpus is being re-embedded. */
  readonly next_model: string | null;
  readonly budget_cents: number | null;
  /** See `kernel/text/chunking.ts`. */
  readonly chunking: string | null;
}

export interface CorpusKey {
  readonly caller: string;
  readonly corpus: string;
}

const none: CorpusSettings = {
  model: null,
  next_model: null,
  budget_cents: null,
  chunking: null,
};
const ofCorpus = 'FROM corpus_settings WHERE caller = :caller AND corpus = :corpus';

function settingsWith<At extends Reader>(lock: string) {
  const get = first<CorpusKey, CorpusSettings, At>`
    SELECT model, next_model, budget_cents, chunking ${ofCorpus} ${lock}`;
  return async (reader: At, key: CorpusKey): Promise<CorpusSettings> =>
    (await get(reader, key)) ?? none;
}

export const getCorpusSettings = settingsWith<Reader>('');
/** A shared lock until the commit: nobody changes the settings. */
export const holdCorpusSettings = settingsWith<Transaction>('{forShare}');
export const lockCorpusSettings = settingsWith<Transaction>('{forUpdate}');

const pin = sql<{ model: string }>`
  INSERT INTO corpus_settings (caller, corpus, model) VALUES (:caller, :corpus, :model)
  ON CONFLICT (caller, corpus) DO UPDATE
    SET model = COALESCE(corpus_settings.model, excluded.model)
  RETURNING model`;

/** The first model stays. Returns the recorded one. */
export async function pinModel(
  transaction: Transaction,
  { caller, corpus, model }: CorpusKey & { readonly model: string },
): Promise<string | undefined> {
  return (await transaction.run(pin, { caller, corpus, model }))[0]?.model;
}

/** Null: no budget. */
export const setCorpusBudget = write<CorpusKey & { readonly budgetCents: number | null }>`
  INSERT INTO corpus_settings (caller, corpus, budget_cents)
  VALUES (:caller, :corpus, :budgetCents)
  ON CONFLICT (caller, corpus) DO UPDATE SET budget_cents = excluded.budget_cents`;

/** Creates the row, so that it can be locked. */
export const addCorpusSettings = write<CorpusKey>`
  INSERT INTO corpus_settings (caller, corpus) VALUES (:caller, :corpus)
  ON CONFLICT (caller, corpus) DO NOTHING`;

export const setChunking = write<CorpusKey & { readonly chunking: string | null }>`
  UPDATE corpus_settings SET chunking = :chunking WHERE caller = :caller AND corpus = :corpus`;

/**
 * From now on every new current generation also has a vector of this model; null ends that. If the
 * corpus returns to a model, leftover vectors of it are no longer removed.
 */
export const setNextModel = write<CorpusKey & { readonly model: string | null }>`
  UPDATE corpus_settings SET next_model = :model,
    old_model = CASE WHEN old_model = :model THEN NULL ELSE old_model END
  WHERE caller = :caller AND corpus = :corpus`;

/** The next model becomes the model that is searched. */
export const flipModel = hits<CorpusKey & { readonly model: string }, Transaction>`
  UPDATE corpus_settings SET old_model = model, model = next_model, next_model = NULL
  WHERE caller = :caller AND corpus = :corpus AND next_model = :model RETURNING model`;

export const deleteCorpusSettings = write<CorpusKey>`DELETE ${ofCorpus}`;
