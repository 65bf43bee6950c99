/** Compares a page of a listing with the entries that the source had: what changed, and why. */
import { inGroups } from '../../concurrency/groups.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { pause, type World } from '../../kernel/world.ts';
import type { Reader } from '../../store/driver/database.ts';
import type { NewChange } from '../../store/sync/changes.ts';
import { type ComparedEntry, getEntries, listEntries } from '../../store/sync/entries.ts';
import { digestOf, noDigest, type Reading } from './content.ts';
import { type Listed, unsettled } from './source-kind.ts';

export interface Compared {
  readonly changes: readonly NewChange[];
  /** The same content under another stamp. */
  readonly restamped: readonly Listed[];
  /** Missing for the first time: the kind wants two listings to agree. */
  readonly missed: readonly string[];
  readonly unchanged: number;
}

export interface Comparing extends Reading {
  readonly reader: Reader;
  readonly world: World;
  readonly sourceId: number;
}

/** The entries of the source after a key and up to another, or to the end. */
export async function readRange(
  { reader, sourceId }: Comparing,
  { after, until }: { readonly after: string; readonly until: string },
): Promise<ComparedEntry[]> {
  const entries: ComparedEntry[] = [];
  const limit = limits.sync.pageMax;
  for (let from = after, isFull = true; isFull; ) {
    const some = await listEntries(reader, { sourceId, after: from, until, limit });
    for (const entry of some) entries.push(entry);
    from = some.at(-1)?.key ?? from;
    isFull = some.length === limit;
  }
  return entries;
}

export interface ListedPart {
  readonly entries: readonly Listed[];
  readonly gone?: readonly string[] | undefined;
}

export async function compare(
  comparing: Comparing,
  { entries: listed, gone = [] }: ListedPart,
  entries: readonly ComparedEntry[],
): Promise<Compared> {
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  const found = listed.map((one) => ({ one, entry: byKey.get(one.key) }));
  const seen = new Set(listed.map(({ key }) => key));
  const absent = entries.filter(({ key, is_kept }) => is_kept === 0 && !seen.has(key));
  const { changes, missed } = removalsOf(comparing, absent, new Set(gone));
  const restamped: Listed[] = [];
  const differing = sort(found, { changes, restamped });
  await inGroups(await untilRead(comparing, differing), limits.sync.digestsAtOnce, async (one) => {
    const verdict = await verdictOf(comparing, one);
    if (verdict === 'same') restamped.push(one.one);
    else if (verdict !== 'waiting') changes.push(verdict);
  });
  const changed = changes.filter(({ kind }) => kind !== 'removed').length;
  const stored = await withContents(comparing, changes, listed);
  return { changes: stored, restamped, missed, unchanged: listed.length - changed };
}

function removalsOf(
  { kind: { removal = 'listed' } }: Comparing,
  absent: readonly ComparedEntry[],
  gone: ReadonlySet<string>,
): { changes: NewChange[]; missed: string[] } {
  const changes: NewChange[] = [];
  const missed: string[] = [];
  for (const entry of absent) {
    if (gone.has(entry.key)) changes.push(missing(entry, 'the source says that it is gone'));
    else if (removal === 'listed') changes.push(missing(entry, 'not in the complete listing'));
    else if (removal === 'twice' && entry.was_missed === 1) {
      changes.push(missing(entry, 'not in two complete listings in a row'));
    } else if (removal === 'twice') missed.push(entry.key);
  }
  return { changes, missed };
}

interface Found {
  readonly one: Listed;
  readonly entry: ComparedEntry | undefined;
}

type Known = Found & { readonly entry: ComparedEntry };

/** Returns those that have to be compared by content; adds what is known to be a change. */
function sort(
  found: readonly Found[],
  { changes, restamped }: { changes: NewChange[]; restamped: Listed[] },
): Known[] {
  const differing: Known[] = [];
  for (const { one, entry } of found) {
    if (!entry) changes.push(change('added', one, undefined, 'new in the listing'));
    else if (!isSame(one, entry)) differing.push({ one, entry });
    // A failed document is in the inbox, or was discarded there: it is not submitted again.
    else if (isUnread(entry)) changes.push(unread(one, entry));
    else if (entry.is_kept === 1 || Number(entry.missed) > 0) restamped.push(one);
  }
  return differing;
}

function isSame({ stamp }: Listed, entry: ComparedEntry): boolean {
  if (stamp === null || stamp === '') return false;
  // What failed is not read again only because its stamp had not settled.
  if (entry.standing === 'failed') return withoutMark(stamp) === withoutMark(entry.stamp);
  return stamp === entry.stamp && !stamp.startsWith(unsettled);
}

function withoutMark(stamp: string): string {
  return stamp.startsWith(unsettled) ? stamp.slice(unsettled.length) : stamp;
}

/** A job that found no file says nothing about the file that is there now. */
function isUnread({ standing }: ComparedEntry): boolean {
  return standing === 'lost' || standing === 'absent';
}

function unread(one: Listed, entry: ComparedEntry): NewChange {
  if (entry.has_document === 0) return change('added', one, entry, 'the corpus does not have it');
  const why = entry.standing === 'lost' ? 'was canceled' : 'did not find it';
  return change('changed', one, entry, `the job that should have read it ${why}`);
}

/**
 * A document that is being read at this moment may have been changed before or after: its bytes
 * decide, once they are known. If that takes long, it is submitted again.
 */
async function untilRead(
  { reader, sourceId, world, signal, kind }: Comparing,
  differing: readonly Known[],
): Promise<Known[]> {
  const { readWaitMs, readPollMs } = limits.sync;
  let known = [...differing];
  if (kind.read) return known;
  for (let waitedMs = 0; waitedMs < readWaitMs; waitedMs += readPollMs) {
    signal.throwIfAborted();
    const open = known.filter(({ entry }) => isBeingRead(entry)).map(({ one }) => one.key);
    if (open.length === 0) break;
    if (waitedMs > 0) await pause(world, readPollMs, signal);
    const fresh = await getEntries(reader, sourceId, open);
    const byKey = new Map(fresh.map((entry) => [entry.key, entry]));
    known = known.map(({ one, entry }) => ({ one, entry: byKey.get(one.key) ?? entry }));
  }
  return known;
}

function isBeingRead({ standing, read_key }: ComparedEntry): boolean {
  return standing === 'reading' && read_key === null;
}

/** `same`: under another stamp. `waiting`: its job will read what is there. */
async function verdictOf(
  comparing: Comparing,
  { one, entry }: Known,
): Promise<NewChange | 'same' | 'waiting'> {
  if (isUnread(entry)) return unread(one, entry);
  const isIndexed = entry.standing === 'indexed';
  const blobKey = isIndexed ? entry.blob_key : entry.read_key;
  const bytes = isIndexed ? entry.bytes : entry.read_bytes;
  if (entry.standing === 'waiting' && blobKey === null && !comparing.kind.read) return 'waiting';
  if (blobKey === null) {
    return change('changed', one, entry, 'the corpus has no text of it, and its stamp is new');
  }
  if (one.size !== null && bytes !== null && one.size !== Number(bytes)) {
    return change('changed', one, entry, `its size was ${bytes} and is ${one.size}`);
  }
  const { kind } = comparing;
  if (!kind.digest && !kind.read) {
    const evidence = `its stamp was ${entry.stamp} and is ${one.stamp}`;
    return change('changed', one, entry, evidence);
  }
  const found = await digestOf(comparing, one);
  if (found.digest === blobKey) return 'same';
  const evidence = found.digest === null ? 'it cannot be read' : 'its content has another hash';
  return { ...change('changed', one, entry, evidence), ...found };
}

/** Content that came with the listing is stored; other content is read when it is submitted. */
async function withContents(
  comparing: Comparing,
  changes: readonly NewChange[],
  listed: readonly Listed[],
): Promise<NewChange[]> {
  const byKey = new Map(listed.map((one) => [one.key, one]));
  const stored: NewChange[] = [];
  for (const each of changes) {
    const one = byKey.get(each.key);
    const isUnread = each.is_stored === 0 && each.kind !== 'removed' && one?.bytes !== undefined;
    stored.push(isUnread ? { ...each, ...(await digestOf(comparing, one)) } : each);
  }
  return stored;
}

function missing({ key, document_id, stamp, size }: ComparedEntry, evidence: string): NewChange {
  return { kind: 'removed', key, document_id, stamp, size, evidence, ...noDigest };
}

function change(
  kind: 'added' | 'changed',
  { key, stamp, size, bytes }: Listed,
  entry: ComparedEntry | undefined,
  evidence: string,
): NewChange {
  const found = { stamp: stamp ?? '', size: size ?? bytes?.length ?? null };
  return { kind, key, document_id: entry?.document_id ?? null, ...found, evidence, ...noDigest };
}
