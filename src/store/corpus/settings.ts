/**
 * Settings of a whole corpus: the model that is searched, the next model, and the budget. A corpus
 * keeps the model it started with until it is re-embedded, regardless of the configured one.
 */
import type { Reader, Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';

export interface CorpusSettings {
  /** Null until the first document has been embedded. */
  readonly model: string | null;
  /** Set while the corpus is being re-embedded. */
  readonly next_model: string | null;
  readonly budget_cents: number | null;
}

export interface CorpusKey {
  readonly caller: string;
  readonly corpus: string;
}

const none: CorpusSettings = { model: null, next_model: null, budget_cents: null };
const columns = 'model, next_model, budget_cents';
const ofCorpus = 'FROM corpus_settings WHERE caller = :caller AND corpus = :corpus';
const get = sql<CorpusSettings>`SELECT ${columns} ${ofCorpus}`;
const getShared = sql<CorpusSettings>`SELECT ${columns} ${ofCorpus} {forShare}`;
const getLocked = sql<CorpusSettings>`SELECT ${columns} ${ofCorpus} {forUpdate}`;

export async function getCorpusSettings(
  reader: Reader,
  { caller, corpus }: CorpusKey,
): Promise<CorpusSettings> {
  return (await reader.run(get, { caller, corpus }))[0] ?? none;
}

/** A shared lock until the commit: nobody changes the settings. */
export async function holdCorpusSettings(
  transaction: Transaction,
  { caller, corpus }: CorpusKey,
): Promise<CorpusSettings> {
  return (await transaction.run(getShared, { caller, corpus }))[0] ?? none;
}

export async function lockCorpusSettings(
  transaction: Transaction,
  { caller, corpus }: CorpusKey,
): Promise<CorpusSettings> {
  return (await transaction.run(getLocked, { caller, corpus }))[0] ?? none;
}

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

const setBudget = sql`
  INSERT INTO corpus_settings (caller, corpus, budget_cents)
  VALUES (:caller, :corpus, :budget_cents)
  ON CONFLICT (caller, corpus) DO UPDATE SET budget_cents = excluded.budget_cents`;

/** Null: no budget. */
export async function setCorpusBudget(
  transaction: Transaction,
  { caller, corpus, budgetCents }: CorpusKey & { readonly budgetCents: number | null },
): Promise<void> {
  await transaction.run(setBudget, { caller, corpus, budget_cents: budgetCents });
}

const setNext = sql`
  UPDATE corpus_settings SET next_model = :model,
    old_model = CASE WHEN old_model = :model THEN NULL ELSE old_model END
  WHERE caller = :caller AND corpus = :corpus`;

/**
 * From now on every new current generation also has a vector of this model; null ends that. If the
 * corpus returns to a model, leftover vectors of it are no longer removed.
 */
export async function setNextModel(
  transaction: Transaction,
  { caller, corpus, model }: CorpusKey & { readonly model: string | null },
): Promise<void> {
  await transaction.run(setNext, { caller, corpus, model });
}

const flip = sql<{ model: string }>`
  UPDATE corpus_settings SET old_model = model, model = next_model, next_model = NULL
  WHERE caller = :caller AND corpus = :corpus AND next_model = :model RETURNING model`;

/** The next model becomes the model that is searched. */
export async function flipModel(
  transaction: Transaction,
  { caller, corpus, model }: CorpusKey & { readonly model: string },
): Promise<boolean> {
  return (await transaction.run(flip, { caller, corpus, model })).length > 0;
}

const remove = sql`DELETE ${ofCorpus}`;

export async function deleteCorpusSettings(
  transaction: Transaction,
  { caller, corpus }: CorpusKey,
): Promise<void> {
  await transaction.run(remove, { caller, corpus });
}
