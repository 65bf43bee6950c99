/**
 * Ownership and shares of a corpus. A corpus belongs to the caller whose namespace it is in, unless
 * a row of `corpus_owners` names another: so ownership moves in one write, and documents stay where
 * they are.
 */
import type { CorpusPlace } from '../../kernel/name/corpus-name.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { all, hits, write } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';

export type ShareAccess = 'read' | 'write';
export type CorpusAccess = ShareAccess | 'own';

/** A corpus outside the caller's own namespace; `away`: inside, but owned by another caller. */
export interface Holding {
  readonly namespace: string;
  readonly corpus: string;
  readonly access: CorpusAccess | 'away';
  readonly owner: string;
  /** The owner's display name, if it differs from the id. */
  readonly owner_name: string | null;
}

export const listHoldings = all<string, Holding>`
  SELECT namespace, corpus, 'own' AS access, owner, NULL AS owner_name
    FROM corpus_owners WHERE owner = :caller
  UNION ALL
  SELECT namespace, corpus, 'away', owner, NULL
    FROM corpus_owners WHERE namespace = :caller AND owner <> :caller
  UNION ALL
  SELECT corpus_shares.namespace, corpus_shares.corpus, access,
      COALESCE(corpus_owners.owner, corpus_shares.namespace), callers.name
    FROM corpus_shares
    LEFT JOIN corpus_owners ON corpus_owners.namespace = corpus_shares.namespace
      AND corpus_owners.corpus = corpus_shares.corpus
    LEFT JOIN callers ON callers.id = COALESCE(corpus_owners.owner, corpus_shares.namespace)
    WHERE corpus_shares.caller = :caller`;

const ownerOf = sql<{ owner: string }>`
  SELECT owner FROM corpus_owners WHERE namespace = :caller AND corpus = :corpus`;

export async function ownerOfCorpus(reader: Reader, place: CorpusPlace): Promise<string> {
  const { caller, corpus } = place;
  return (await reader.run(ownerOf, { caller, corpus }))[0]?.owner ?? caller;
}

const put = sql`
  INSERT INTO corpus_owners (namespace, corpus, owner) VALUES (:caller, :corpus, :owner)
  ON CONFLICT (namespace, corpus) DO UPDATE SET owner = excluded.owner`;
const remove = sql`DELETE FROM corpus_owners WHERE namespace = :caller AND corpus = :corpus`;
const unshareOwner = sql`
  DELETE FROM corpus_shares WHERE namespace = :caller AND corpus = :corpus AND caller = :owner`;

export async function setOwner(
  transaction: Transaction,
  { caller, corpus }: CorpusPlace,
  owner: string,
): Promise<void> {
  if (owner === caller) await transaction.run(remove, { caller, corpus });
  else await transaction.run(put, { caller, corpus, owner });
  await transaction.run(unshareOwner, { caller, corpus, owner });
}

/** Whether the caller has created a corpus with this name in its own namespace. */
export const hasOwnCorpus = hits<CorpusPlace>`
  SELECT name FROM corpora WHERE name = :corpus AND (
    EXISTS (SELECT 1 FROM corpus_settings WHERE corpus_settings.caller = :caller
      AND corpus_settings.corpus = :corpus AND model IS NOT NULL)
    OR EXISTS (SELECT 1 FROM jobs WHERE jobs.caller = :caller AND jobs.corpus = :corpus))`;

export interface ShareRow {
  readonly caller: string;
  /** The caller's display name, if it differs from the id. */
  readonly name: string | null;
  readonly access: ShareAccess;
  readonly created_at: number;
}

export const listShares = all<CorpusPlace, ShareRow>`
  SELECT corpus_shares.caller, callers.name, access, corpus_shares.created_at FROM corpus_shares
  LEFT JOIN callers ON callers.id = corpus_shares.caller
  WHERE namespace = :caller AND corpus = :corpus ORDER BY corpus_shares.caller`;

export const putShare = write<
  CorpusPlace & { readonly guest: string; readonly access: ShareAccess; readonly now: number }
>`
  INSERT INTO corpus_shares (namespace, corpus, caller, access, created_at)
  VALUES (:caller, :corpus, :guest, :access, :now)
  ON CONFLICT (namespace, corpus, caller) DO UPDATE SET access = excluded.access`;

export const removeShare = hits<CorpusPlace & { readonly guest: string }, Transaction>`
  DELETE FROM corpus_shares WHERE namespace = :caller AND corpus = :corpus AND caller = :guest
  RETURNING caller`;

const unshareAll = sql`
  DELETE FROM corpus_shares WHERE namespace = :caller AND corpus = :corpus`;

/** The corpus is deleted: removes its owner and shares. */
export async function forgetAccess(
  transaction: Transaction,
  { caller, corpus }: CorpusPlace,
): Promise<void> {
  await transaction.run(unshareAll, { caller, corpus });
  await transaction.run(remove, { caller, corpus });
}
