/**
 * Finds moves: an added file with the content of a document whose file is missing, or was removed
 * by an earlier run. Only added files with the size of such a document are read.
 */
import { posix } from 'node:path';
import { inGroups } from '../../concurrency/groups.ts';
import { limits } from '../../kernel/limits/limits.ts';
import {
  type ChangeRow,
  dropSome,
  listChangesOfKind,
  listOriginSizes,
  listOrigins,
  type OriginRow,
  reclassifyChanges,
} from '../../store/sync/changes.ts';
import { type Digest, digestOf, noDigest } from './content.ts';
import type { SourceRun } from './run.ts';

export async function matchMoves(run: SourceRun): Promise<void> {
  const { database, kind } = run.options;
  if (!kind.digest && !kind.read) return;
  const { id: run_id, source_id } = run.row;
  const sizes = await listOriginSizes(database, { run_id, source_id });
  if (sizes.size === 0) return;
  const limit = limits.sync.pageMax;
  for (let isFull = true; isFull; ) {
    const after = Number(run.row.cursor || 0);
    const page = await listChangesOfKind(database, { run_id, kind: 'added', after, limit });
    const last = page.at(-1);
    if (!last) return;
    // What has no known size has to be read anyway, to be submitted.
    const candidates = page.filter(({ size }) => (size === null ? kind.read : sizes.has(size)));
    const digests = await digestsOf(run, candidates);
    const blobKeys = [...new Set([...digests.values()].flatMap(({ digest }) => digest ?? []))];
    const origins = await listOrigins(database, { run_id, source_id, blobKeys });
    const pairs = pair(candidates, digests, origins);
    const paired = new Set(pairs.map(({ change }) => change.id));
    const read = candidates.filter(({ id }) => !paired.has(id) && digests.get(id)?.is_stored === 1);
    await run.commit('match', { cursor: String(last.id) }, async (transaction) => {
      const stored = read.map((change) => ({ ...change, ...(digests.get(change.id) ?? noDigest) }));
      await reclassifyChanges(transaction, [...pairs.map(movedFrom), ...stored]);
      const replaced = pairs.flatMap(({ origin }) => origin.change_id ?? []);
      if (replaced.length > 0) await dropSome(transaction, replaced);
    });
    isFull = page.length === limit;
  }
}

async function digestsOf(
  { reading, options: { signal } }: SourceRun,
  changes: readonly ChangeRow[],
): Promise<ReadonlyMap<number, Digest>> {
  const digests = new Map<number, Digest>();
  await inGroups(changes, limits.sync.digestsAtOnce, async (change) => {
    signal.throwIfAborted();
    const { id, digest, is_stored } = change;
    digests.set(id, digest === null ? await digestOf(reading, change) : { digest, is_stored });
  });
  return digests;
}

interface Pair {
  readonly change: ChangeRow;
  readonly origin: OriginRow;
}

/** Each origin is taken once. One with the same file name is preferred. */
function pair(
  changes: readonly ChangeRow[],
  digests: ReadonlyMap<number, Digest>,
  origins: readonly OriginRow[],
): Pair[] {
  const free = Map.groupBy(origins, ({ blob_key }) => blob_key);
  const pairs: Pair[] = [];
  for (const isPreferred of [sameName, sameType]) {
    for (const change of changes) {
      if (pairs.some((one) => one.change === change)) continue;
      const open = free.get(digests.get(change.id)?.digest ?? '') ?? [];
      const at = open.findIndex((origin) => isPreferred(origin, change));
      const [origin] = at < 0 ? [] : open.splice(at, 1);
      if (origin) pairs.push({ change, origin });
    }
  }
  return pairs;
}

function sameName(origin: OriginRow, change: ChangeRow): boolean {
  return posix.basename(origin.key) === posix.basename(change.key) && sameType(origin, change);
}

/**
 * The type of a file follows from its extension, and the title of some from their name: such a file
 * is read again under its new name.
 */
function sameType({ key, title }: OriginRow, change: ChangeRow): boolean {
  const isNamedByFile = title !== null && title === posix.basename(key);
  if (isNamedByFile && posix.basename(key) !== posix.basename(change.key)) return false;
  return posix.extname(key).toLowerCase() === posix.extname(change.key).toLowerCase();
}

function movedFrom({ change: { id }, origin }: Pair) {
  const { change_id, key, document_id, blob_key } = origin;
  const isMove = change_id !== null;
  return {
    id,
    kind: isMove ? ('moved' as const) : ('restored' as const),
    from_key: key,
    document_id,
    digest: blob_key,
    is_stored: 0,
    evidence: isMove
      ? 'its content has the hash of a document whose file is gone'
      : 'its content has the hash of a document that was removed',
  };
}
