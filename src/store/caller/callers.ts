/**
 * Callers and the identities that lead to them. Jobs, corpora and documents belong to a caller; a
 * key's hash or a name from Membership only points to one. All writes are serialized by one lock.
 */

import { Failure } from '../../kernel/failure/failure.ts';
import { decideCaller, type Identity } from '../../kernel/name/caller-identity.ts';
import type { NewEvent } from '../../observe/event.ts';
import { appendEvents } from '../delivery/events.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';
import { beginMove } from './ownership-moves.ts';

export interface CallerRow {
  readonly id: string;
  /** What Membership or the list of keys last called it: shown in place of the id. */
  readonly name: string | null;
  readonly origin: 'local' | 'key' | 'name' | 'membership' | 'share' | 'store';
  readonly merged_into: string | null;
  readonly created_at: number;
}

export interface IdentityRow extends Identity {
  readonly caller: string;
  readonly created_at: number;
}

/** What a request says about who sent it. */
export interface Sight {
  /** The first 16 digits of the key's SHA-256. */
  readonly key: string;
  readonly named?: Identity | undefined;
}

export type KnownCaller = Pick<CallerRow, 'id' | 'name'>;

export interface Met extends KnownCaller {
  /** What had to be changed. */
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
  const rows = await reader.run(identitiesOf, { key, kind: named?.kind, subject: named?.subject });
  const byKey = rows.find(({ kind }) => kind === 'key');
  if (!byKey || !named) return byKey && { id: byKey.caller, name: byKey.name };
  const byName = rows.find(({ kind }) => kind === named.kind);
  if (byName?.caller !== byKey.caller || byName.name !== named.subject) return undefined;
  return { id: byName.caller, name: byName.name };
}

const lock = sql`SELECT pg_advisory_xact_lock(7324)`;

/** One process at a time changes who is who. SQLite has one writer anyway. */
export async function lockCallers(transaction: Transaction): Promise<void> {
  if (transaction.dialect.name === 'postgres') await transaction.run(lock);
}

const namesOf = sql<IdentityRow>`
  SELECT * FROM caller_identities WHERE caller = :caller ORDER BY kind, subject`;
const byId = sql<CallerRow>`SELECT * FROM callers WHERE id = :id`;
const setName = sql`UPDATE callers SET name = :name WHERE id = :id`;
/** Somebody has come under the id that a corpus was shared with. */
const claimShared = sql`
  UPDATE callers SET origin = :origin WHERE id = :id AND origin = 'share'`;

/** Takes note of a request: creates, links or merges callers as it turns out to be necessary. */
export async function meetCaller(
  transaction: Transaction,
  sight: Sight,
  now: number,
): Promise<Met> {
  await lockCallers(transaction);
  const { key, named } = sight;
  const rows = await transaction.run(identitiesOf, {
    key,
    kind: named?.kind,
    subject: named?.subject,
  });
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
 * A caller whose id is the name that is now claimed. An operator may name any. Membership has names
 * of its own, which may be somebody else's id: it gets one that an older store or a share has under
 * this name, and that nobody has claimed.
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

/** Under the id that is shown, unless somebody has it. */
async function createCaller(
  transaction: Transaction,
  { key, named }: Sight,
  now: number,
): Promise<string> {
  const wanted = named?.subject ?? key;
  const origin = named?.kind ?? 'key';
  const [row] = await transaction.run(byId, { id: wanted });
  // Somebody has shared a corpus with this key before it was ever used.
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

/** From this commit on, whatever leads to `from` leads to `to`, with all that `from` owns. */
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

/** By its id, or by a name or a key's hash that leads to it; one that was merged is the other. */
export async function getCaller(reader: Reader, id: string): Promise<CallerRow | undefined> {
  const [row] = await reader.run(byEither, { id });
  if (!row || row.merged_into === null) return row;
  return (await reader.run(byId, { id: row.merged_into }))[0];
}

export function unknownCaller(id: string): Failure {
  return new Failure('caller_unknown', `there is no caller ${JSON.stringify(id)}`);
}

/** The caller of this id. One that was never seen is created: a corpus may be shared beforehand. */
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

const list = sql<CallerRow & { readonly keys: number; readonly jobs: number }>`
  SELECT callers.*,
    (SELECT COUNT(*) FROM caller_identities WHERE caller = callers.id AND kind = 'key') AS keys,
    (SELECT COUNT(*) FROM jobs WHERE jobs.caller = callers.id) AS jobs
  FROM callers WHERE id > :after AND merged_into IS NULL ORDER BY id LIMIT :limit`;

export function listCallers(
  reader: Reader,
  page: { readonly after: string; readonly limit: number },
) {
  return reader.run(list, { ...page });
}

export function listIdentities(reader: Reader, caller: string): Promise<IdentityRow[]> {
  return reader.run(namesOf, { caller });
}

const ofKey = sql<IdentityRow>`
  SELECT * FROM caller_identities WHERE kind = 'key' AND subject = :key`;

/** The caller that a key leads to now. */
export async function callerOfKey(reader: Reader, key: string): Promise<string | undefined> {
  return (await reader.run(ofKey, { key }))[0]?.caller;
}

/** From now on the key leads to this caller; where it led to another, that one is left as it is. */
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

/** The key leads to nobody any more. If it is used again, it is a new caller's. */
export async function unlinkKey(
  transaction: Transaction,
  { caller, key, now }: { readonly caller: string; readonly key: string; readonly now: number },
): Promise<boolean> {
  if ((await transaction.run(unlink, { caller, key })).length === 0) return false;
  const detail = { caller, identity: 'key', subject: key };
  await appendEvents(transaction, [{ kind: 'caller_unlinked', jobId: null, detail }], now);
  return true;
}

const anything = sql<{ id: string }>`
  SELECT id FROM callers WHERE id = :caller AND (
    EXISTS (SELECT 1 FROM jobs WHERE jobs.caller = :caller)
    OR EXISTS (SELECT 1 FROM batch_tasks WHERE batch_tasks.caller = :caller)
    OR EXISTS (SELECT 1 FROM corpus_owners WHERE owner = :caller)
    OR EXISTS (SELECT 1 FROM corpus_settings WHERE corpus_settings.caller = :caller))`;

/** Whether the caller has a job, a batch task or a corpus. */
export async function ownsAnything(reader: Reader, caller: string): Promise<boolean> {
  return (await reader.run(anything, { caller })).length > 0;
}
