/**
 * Callers and their identities. Jobs, corpora and documents belong to a caller; the hash of a key
 * or a name from Membership only points to one. One lock serializes all writes.
 */

import { Failure } from '../../kernel/failure/failure.ts';
import { decideCaller, type Identity } from '../../kernel/name/caller-identity.ts';
import type { NewEvent } from '../../observe/event.ts';
import { appendEvents } from '../delivery/events.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { all, hits } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';
import { beginMove } from './ownership-moves.ts';

export interface CallerRow {
  readonly id: string;
  /** The latest name from Membership or the key list: shown in place of the id. */
  readonly name: string | null;
  readonly origin: 'local' | 'key' | 'name' | 'membership' | 'share' | 'store';
  readonly merged_into: string | null;
  readonly created_at: number;
}

export interface IdentityRow extends Identity {
  readonly caller: string;
  readonly created_at: number;
}

/** The identities that a request comes with. */
export interface Sight {
  /** The first 16 digits of the key's SHA-256. */
  readonly key: string;
  readonly named?: Identity | undefined;
}

export type KnownCaller = Pick<CallerRow, 'id' | 'name'>;

export interface Met extends KnownCaller {
  /** Events for what was changed. */
  readonly events: readonly NewEvent[];
}

const identitiesOf = sql<IdentityRow & { readonly name: string | null }>`
  SELECT caller_identities.*, callers.name FROM caller_identities
  JOIN callers ON callers.id = caller_identities.caller
  WHERE (kind = 'key' AND subject = :key) OR (kind = :kind AND subject = :subject)`;

/** The caller, if it is known and nothing about it is new. */
export async function findCaller(
  reader: Reader,
  { key, named }: Sight,
): Promise<KnownCaller | undefined> {
  const rows = await reader.run(identitiesOf, { key, ...nameColumns(named) });
  const byKey = rows.find(({ kind }) => kind === 'key');
  if (!byKey || !named) return byKey && { id: byKey.caller, name: byKey.name };
  const byName = rows.find(({ kind }) => kind === named.kind);
  if (byName?.caller !== byKey.caller || byName.name !== named.subject) return undefined;
  return { id: byName.caller, name: byName.name };
}

/** No identity has a kind that is NULL: without a name, only the key is found. */
function nameColumns(named: Sight['named']) {
  return { kind: named?.kind ?? null, subject: named?.subject ?? null };
}

const lock = sql`SELECT pg_advisory_xact_lock(7324)`;

/** One process at a time changes identities. SQLite has one writer anyway. */
export async function lockCallers(transaction: Transaction): Promise<void> {
  if (transaction.dialect.name === 'postgres') await transaction.run(lock);
}

const namesOf = sql<IdentityRow>`
  SELECT * FROM caller_identities WHERE caller = :caller ORDER BY kind, subject`;
const byId = sql<CallerRow>`SELECT * FROM callers WHERE id = :id`;
const setName = sql`UPDATE callers SET name = :name WHERE id = :id`;
/** A request has come under an id that a corpus was shared with. */
const claimShared = sql`
  UPDATE callers SET origin = :origin WHERE id = :id AND origin = 'share'`;

/** Records a request: creates, links or merges callers as needed. */
export async function meetCaller(
  transaction: Transaction,
  sight: Sight,
  now: number,
): Promise<Met> {
  await lockCallers(transaction);
  const { key, named } = sight;
  const rows = await transaction.run(identitiesOf, { key, ...nameColumns(named) });
  const byKey = rows.find(({ kind }) => kind === 'key')?.caller;
  const known = named && rows.find(({ kind }) => kind === named.kind)?.caller;
  const byName = known ?? (named && (await adoptable(transaction, named)));
  const decision = decideCaller({
    byKey,
    byName,
    hasName: named !== undefined,
    isNamedOtherwise: byKey !== undefined && (await isNamedOtherwise(transaction, byKey, named)),
  });
  const id =
    decision.do === 'create' ? await createCaller(transaction, sight, now) : decision.caller;
  const events: NewEvent[] = [];
  if (decision.do === 'merge') {
    events.push(...(await mergeCallers(transaction, { from: decision.from, to: id, now })));
  }
  for (const identity of [{ kind: 'key', subject: key } as const, ...(named ? [named] : [])]) {
    if (await pointTo(transaction, { ...identity, caller: id, now })) {
      events.push(linked(id, identity));
    }
  }
  if (named) await transaction.run(setName, { id, name: named.subject });
  await transaction.run(claimShared, { id, origin: named?.kind ?? 'key' });
  await appendEvents(transaction, events, now);
  const [row] = await transaction.run(byId, { id });
  return { id, name: row?.name ?? null, events };
}

function linked(caller: string, { kind, subject }: Identity): NewEvent {
  return { kind: 'caller_linked', jobId: null, detail: { caller, identity: kind, subject } };
}

async function isNamedOtherwise(
  transaction: Transaction,
  caller: string,
  named: Identity | undefined,
): Promise<boolean> {
  if (!named) return false;
  const rows = await transaction.run(namesOf, { caller });
  return rows.some(({ kind, subject }) => kind === named.kind && subject !== named.subject);
}

/**
 * A caller whose id equals the claimed name. An operator may use any such id. Names of Membership
 * may equal another caller's id, so they may only take an id from an older store or a share that is
 * not claimed yet.
 */
async function adoptable(transaction: Transaction, named: Identity): Promise<string | undefined> {
  if (named.kind === 'name') return (await getCaller(transaction, named.subject))?.id;
  const [row] = await transaction.run(byId, { id: named.subject });
  if (row?.origin !== 'store' && row?.origin !== 'share') return undefined;
  if (row.merged_into !== null) return row.merged_into;
  return (await isNamedOtherwise(transaction, row.id, named)) ? undefined : row.id;
}

const insert = sql<{ id: string }>`
  INSERT INTO callers (id, origin, created_at) VALUES (:id, :origin, :now)
  ON CONFLICT (id) DO NOTHING RETURNING id`;

/** Uses the displayed id, unless it is taken. */
async function createCaller(
  transaction: Transaction,
  { key, named }: Sight,
  now: number,
): Promise<string> {
  const wanted = named?.subject ?? key;
  const origin = named?.kind ?? 'key';
  const [row] = await transaction.run(byId, { id: wanted });
  // A corpus was shared with this key before its first use.
  if (row?.origin === 'share' && !named) return wanted;
  for (let n = 1; ; n += 1) {
    const id = n === 1 ? wanted : `${wanted}~${n}`;
    if ((await transaction.run(insert, { id, origin, now })).length > 0) return id;
  }
}

const point = sql<{ subject: string }>`
  INSERT INTO caller_identities (kind, subject, caller, created_at)
  VALUES (:kind, :subject, :caller, :now)
  ON CONFLICT (kind, subject) DO UPDATE SET caller = excluded.caller,
    created_at = excluded.created_at
  WHERE caller_identities.caller <> excluded.caller
  RETURNING subject`;

async function pointTo(
  transaction: Transaction,
  identity: Identity & { readonly caller: string; readonly now: number },
): Promise<boolean> {
  return (await transaction.run(point, { ...identity })).length > 0;
}

const repoint = sql`UPDATE caller_identities SET caller = :to WHERE caller = :from`;
const merge = sql`
  UPDATE callers SET merged_into = :to WHERE id = :from OR merged_into = :from`;

/**
 * From this commit on, every identity of `from` leads to `to`, which also owns everything of
 * `from`.
 */
export async function mergeCallers(
  transaction: Transaction,
  { from, to, now }: { readonly from: string; readonly to: string; readonly now: number },
): Promise<NewEvent[]> {
  await transaction.run(repoint, { from, to });
  await transaction.run(merge, { from, to });
  await beginMove(transaction, { from, to, isMerge: true, now });
  return [{ kind: 'caller_merged', jobId: null, detail: { caller: to, from } }];
}

const byEither = sql<CallerRow & { readonly place: number }>`
  SELECT callers.*, 0 AS place FROM callers WHERE id = :id
  UNION ALL
  SELECT callers.*, 1 AS place FROM caller_identities
  JOIN callers ON callers.id = caller_identities.caller
  WHERE kind IN ('membership', 'name', 'key') AND subject = :id
  ORDER BY place LIMIT 1`;

/** Finds a caller by id, name or key hash; a merged caller resolves to the remaining one. */
export async function getCaller(reader: Reader, id: string): Promise<CallerRow | undefined> {
  const [row] = await reader.run(byEither, { id });
  if (!row || row.merged_into === null) return row;
  return (await reader.run(byId, { id: row.merged_into }))[0];
}

export function unknownCaller(id: string): Failure {
  return new Failure('caller_unknown', `there is no caller ${JSON.stringify(id)}`);
}

/** The caller with this id. An unknown one is created: a corpus may be shared in advance. */
export async function ensureCaller(
  transaction: Transaction,
  id: string,
  now: number,
): Promise<CallerRow> {
  const known = await getCaller(transaction, id);
  if (known) return known;
  const origin = id === 'local' ? 'local' : 'share';
  await transaction.run(insert, { id, origin, now });
  return { id, name: null, origin, merged_into: null, created_at: now };
}

export const listCallers = all<
  { after: string; limit: number },
  CallerRow & { readonly keys: number; readonly jobs: number }
>`
  SELECT callers.*,
    (SELECT COUNT(*) FROM caller_identities WHERE caller = callers.id AND kind = 'key') AS keys,
    (SELECT COUNT(*) FROM jobs WHERE jobs.caller = callers.id) AS jobs
  FROM callers WHERE id > :after AND merged_into IS NULL ORDER BY id LIMIT :limit`;

export function listIdentities(reader: Reader, caller: string): Promise<IdentityRow[]> {
  return reader.run(namesOf, { caller });
}

const ofKey = sql<IdentityRow>`
  SELECT * FROM caller_identities WHERE kind = 'key' AND subject = :key`;

/** The current caller of a key. */
export async function callerOfKey(reader: Reader, key: string): Promise<string | undefined> {
  return (await reader.run(ofKey, { key }))[0]?.caller;
}

/** Links the key to this caller. A previous caller of the key stays as it is. */
export async function linkKey(
  transaction: Transaction,
  { caller, key, now }: { readonly caller: string; readonly key: string; readonly now: number },
): Promise<boolean> {
  const identity = { kind: 'key', subject: key } as const;
  if (!(await pointTo(transaction, { ...identity, caller, now }))) return false;
  await appendEvents(transaction, [linked(caller, identity)], now);
  return true;
}

const unlink = sql<{ caller: string }>`
  DELETE FROM caller_identities WHERE kind = 'key' AND subject = :key AND caller = :caller
  RETURNING caller`;

/** Unlinks the key. If it is used again, it belongs to a new caller. */
export async function unlinkKey(
  transaction: Transaction,
  { caller, key, now }: { readonly caller: string; readonly key: string; readonly now: number },
): Promise<boolean> {
  if ((await transaction.run(unlink, { caller, key })).length === 0) return false;
  const detail = { caller, identity: 'key', subject: key };
  await appendEvents(transaction, [{ kind: 'caller_unlinked', jobId: null, detail }], now);
  return true;
}

/** Whether the caller has a job, a batch task or a corpus. */
export const ownsAnything = hits<string>`
  SELECT id FROM callers WHERE id = :caller AND (
    EXISTS (SELECT 1 FROM jobs WHERE jobs.caller = :caller)
    OR EXISTS (SELECT 1 FROM batch_tasks WHERE batch_tasks.caller = :caller)
    OR EXISTS (SELECT 1 FROM corpus_owners WHERE owner = :caller)
    OR EXISTS (SELECT 1 FROM corpus_settings WHERE corpus_settings.caller = :caller))`;
