/** Compares a page of a listing with the entries that the source had: what changed, and why. */
import { inGroups } from '../../concurrency/groups.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Reader } from '../../store/driver/database.ts';
import type { NewChange } from '../../store/sync/changes.ts';
import { type ComparedEntry, listEntries, listExpected } from '../../store/sync/entries.ts';
import type { FollowedPlace, Listed, SourceKind } from './source-kind.ts';

export interface Compared {
  readonly changes: readonly NewChange[];
  /** The same content under another stamp. */
  readonly restamped: readonly Listed[];
  readonly unchanged: number;
}

export interface Comparing {
  readonly reader: Reader;
  readonly kind: SourceKind;
  readonly place: FollowedPlace;
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

export async function compare(
  comparing: Comparing,
  listed: readonly Listed[],
  entries: readonly ComparedEntry[],
): Promise<Compared> {
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  const found = listed.map((one) => ({ one, entry: byKey.get(one.key) }));
  const seen = new Set(listed.map(({ key }) => key));
  const changes = entries.filter(({ key, is_kept }) => is_kept === 0 && !seen.has(key)).map(gone);
  const { differing, lost } = sort(found, changes);
  const { reader } = comparing;
  const expected = await listExpected(
    reader,
    lost.map(({ entry }) => entry.document_id),
  );
  for (const { one, entry } of lost) {
    if (expected.has(entry.document_id)) continue;
    changes.push(change('added', one, entry, 'the corpus does not have it'));
  }
  const restamped: Listed[] = [];
  await inGroups(differing, limits.sync.digestsAtOnce, async ({ one, entry }) => {
    const evidence = await evidenceOf(comparing, one, entry);
    if (evidence === undefined) restamped.push(one);
    else changes.push(change('changed', one, entry, evidence));
  });
  const changed = changes.filter(({ kind }) => kind !== 'removed').length;
  return { changes, restamped, unchanged: listed.length - changed };
}

interface Found {
  readonly one: Listed;
  readonly entry: ComparedEntry | undefined;
}

type Known = Found & { readonly entry: ComparedEntry };

/** Those that differ from their entry, and those that the corpus lacks; adds the new ones. */
function sort(found: readonly Found[], changes: NewChange[]) {
  const differing: Known[] = [];
  const lost: Known[] = [];
  for (const { one, entry } of found) {
    if (!entry) changes.push(change('added', one, undefined, 'new in the listing'));
    else if (!isSame(one, entry)) differing.push({ one, entry });
    else if (entry.has_document === 0) lost.push({ one, entry });
    else if (entry.is_kept === 1) differing.push({ one, entry });
  }
  return { differing, lost };
}

function isSame({ stamp }: Listed, entry: ComparedEntry): boolean {
  return stamp !== null && stamp !== '' && stamp === entry.stamp;
}

/** Why the content counts as changed; undefined: it is the same. */
async function evidenceOf(
  { kind, place }: Comparing,
  { key, size, stamp }: Listed,
  { blob_key, bytes, stamp: before }: ComparedEntry,
): Promise<string | undefined> {
  if (blob_key === null) return 'the corpus has no text of it, and its stamp is new';
  if (size !== null && bytes !== null && size !== Number(bytes)) {
    return `its size was ${bytes} and is ${size}`;
  }
  if (!kind.digest) return `its stamp was ${before} and is ${stamp}`;
  const digest = await kind.digest(place, key);
  if (digest === blob_key) return undefined;
  return digest === undefined ? 'it cannot be read' : 'its content has another hash';
}

function gone({ key, document_id, stamp, size }: ComparedEntry): NewChange {
  const evidence = 'not in the complete listing';
  return { kind: 'removed', key, document_id, stamp, size, evidence };
}

function change(
  kind: 'added' | 'changed',
  { key, stamp, size }: Listed,
  entry: ComparedEntry | undefined,
  evidence: string,
): NewChange {
  return { kind, key, document_id: entry?.document_id ?? null, stamp: stamp ?? '', size, evidence };
}
