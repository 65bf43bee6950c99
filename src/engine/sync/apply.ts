/**
 * Applies what a run found: renames first, so that a new file under an old name is another
 * document; then submissions, as ordinary jobs; removals last. A change is applied in the
 * transaction that marks it, so it is applied once.
 */
import { inGroups } from '../../concurrency/groups.ts';
import { toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { NewEvent } from '../../observe/event.ts';
import { appendEvents } from '../../store/delivery/events.ts';
import { documentIdsOf } from '../../store/document/names.ts';
import { removeSoftly, restoreDocument } from '../../store/document/removed.ts';
import { renameDocument } from '../../store/document/rename.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { insertSubmission, type NewSource } from '../../store/job/submit.ts';
import {
  type ChangeKind,
  type ChangeRow,
  contentKeysOf,
  countChanges,
  dropSome,
  listOpenChanges,
  markApplied,
  type Reclassified,
  reclassifyChanges,
} from '../../store/sync/changes.ts';
import { deleteEntries, keepEntries, listShared, putEntries } from '../../store/sync/entries.ts';
import { cancelItemsOf } from '../command/cancel-items.ts';
import { digestOf, noDigest, submissionOf } from './content.ts';
import { endRun, holdRun } from './end.ts';
import { errorOf, type SourceRun } from './run.ts';

export async function applyChanges(run: SourceRun): Promise<void> {
  if (run.row.is_plan === 1) return endRun(run);
  await forEachPage(run, ['moved', 'restored'], limits.sync.renamesMax, rename);
  const { readPageMax, submitMax } = limits.sync;
  const atOnce = run.options.kind.read ? readPageMax : submitMax;
  await forEachPage(run, ['added', 'changed'], atOnce, submit);
  if (await isHeldBack(run)) return holdRun(run);
  const remove = run.row.removals === 'ignore' ? keep : removeGone;
  await forEachPage(run, ['removed'], limits.sync.renamesMax, remove);
  return endRun(run);
}

type Apply = (run: SourceRun, page: readonly ChangeRow[]) => Promise<void>;

async function forEachPage(
  run: SourceRun,
  kinds: readonly ChangeKind[],
  limit: number,
  apply: Apply,
): Promise<void> {
  const { database } = run.options;
  for (const kind of kinds) {
    for (;;) {
      const page = { run_id: run.row.id, kind, after: 0, limit };
      const changes = await listOpenChanges(database, page);
      if (changes.length === 0) break;
      await apply(run, changes);
    }
  }
}

/** Too many removals, or an empty listing: a disk may not be mounted. */
async function isHeldBack({ options, place, row }: SourceRun): Promise<boolean> {
  if (row.removals !== null) return false;
  const { removed: change } = await countChanges(options.database, row.id);
  const removed = change.open;
  if (removed === 0) return false;
  const { removedMax, removedPercentMax } = limits.sync;
  const { holdAbovePercent = removedPercentMax } = place.options;
  const isLarge = removed > removedMax && removed * 100 > row.entries_before * holdAbovePercent;
  return isLarge || row.listed === 0;
}

const rename: Apply = async (run, page) => {
  const { kind, source, revoke } = run.options;
  const place = { caller: source.place_caller, corpus: source.place_corpus };
  const canceled: number[] = [];
  await run.commit('act', {}, async (transaction, now) => {
    canceled.length = 0;
    const ids = page.flatMap(({ document_id }) => document_id ?? []);
    const { items, events } = await cancelItemsOf(transaction, ids, now);
    canceled.push(...items);
    const refused: ChangeRow[] = [];
    const done: ChangeRow[] = [];
    const contents = await contentKeysOf(transaction, ids);
    for (const change of page) {
      const id = change.document_id ?? '';
      // A job may have given it another text since the run compared them.
      if (change.kind === 'moved' && contents.get(id) !== change.digest) {
        refused.push(change);
        continue;
      }
      const { source: name } = kind.sourceOf(run.place, change.key);
      const named = { id, place, source: name, now };
      const written =
        change.kind === 'moved'
          ? await renameDocument(transaction, named)
          : await restoreDocument(transaction, named);
      if (written) events.push(...written);
      (written ? done : refused).push(change);
    }
    await recordRenames(transaction, run, done);
    await reclassifyChanges(transaction, refused.map(asAdded));
    await appendEvents(transaction, events, now);
  });
  revoke(canceled);
};

/** The document or its new name is taken: the file is read like any other. */
function asAdded({ id }: ChangeRow): Reclassified {
  const evidence = 'new in the listing; the document of its content could not be renamed';
  return { id, kind: 'added', from_key: null, document_id: null, evidence, ...noDigest };
}

async function recordRenames(
  transaction: Transaction,
  { options: { source } }: SourceRun,
  changes: readonly ChangeRow[],
): Promise<void> {
  const moved = changes.filter(({ kind }) => kind === 'moved');
  await deleteEntries(
    transaction,
    source.id,
    moved.flatMap(({ from_key }) => from_key ?? []),
  );
  await putEntries(
    transaction,
    source.id,
    changes.map((change) => ({ ...entryOf(change), document_id: change.document_id ?? '' })),
  );
  await markApplied(transaction, changes);
}

function entryOf({ key, stamp, size }: ChangeRow) {
  return { key, stamp: stamp ?? '', size };
}

const submit: Apply = async (run, page) => {
  const { source, world, ring } = run.options;
  const { lane, priority = limits.fairness.priorityDefault } = run.place.options;
  const { found, unread, error } = await readContents(run, page);
  const sources = found.map(({ submission }) => submission);
  const key = world.uuid();
  const known = JSON.parse(run.row.job_keys) as string[];
  const jobKeys = sources.length > 0 ? [...known, key] : known;
  const place = { caller: source.place_caller, corpus: source.place_corpus };
  await run.commit('act', { jobKeys, error }, async (transaction, now) => {
    const { caller, corpus } = source;
    await dropSome(
      transaction,
      unread.map(({ id }) => id),
    );
    if (sources.length === 0) return;
    const budgetCents = await budgetOf(transaction, run, sources.length);
    const chosen = { budgetCents, lane, priority, force: false };
    const submitted = { key, caller, corpus, sources, ...chosen, now };
    const { itemIds } = await insertSubmission(transaction, submitted);
    const names = sources.map(({ source: name }) => name);
    const ids = await documentIdsOf(transaction, place, names);
    const entries = found.map(({ change }, index) => ({
      ...entryOf(change),
      document_id: ids[index] as string,
      item_id: itemIds[index],
    }));
    await putEntries(transaction, source.id, entries);
    await markApplied(
      transaction,
      found.map(({ change }) => change),
    );
  });
  ring();
};

/** The budget of a run, shared by its jobs: each has the part of its documents. */
async function budgetOf(
  transaction: Transaction,
  { row, place }: SourceRun,
  documents: number,
): Promise<number | undefined> {
  const { budgetCents } = place.options;
  if (budgetCents === undefined) return undefined;
  const { added, changed } = await countChanges(transaction, row.id);
  return (budgetCents * documents) / Math.max(added.all + changed.all, documents);
}

interface FoundContent {
  readonly change: ChangeRow;
  readonly submission: NewSource;
}

/** What cannot be read now is left for the next run; its document stays as it is. */
async function readContents(run: SourceRun, page: readonly ChangeRow[]) {
  const { reading } = run;
  const submissions = new Map<number, NewSource>();
  const unread: ChangeRow[] = [];
  let error: string | undefined;
  await inGroups(page, limits.sync.readsAtOnce, async (change) => {
    try {
      const isKnown = !reading.kind.read || change.is_stored === 1;
      const digest = isKnown ? change : await digestOf(reading, change);
      const submission = submissionOf(reading, { ...digest, key: change.key });
      if (submission) submissions.set(change.id, submission);
      else unread.push(change);
    } catch (cause) {
      if (reading.signal.aborted) throw cause;
      unread.push(change);
      error ??= errorOf(toFailure(cause));
    }
  });
  const found = page.flatMap((change): FoundContent[] => {
    const submission = submissions.get(change.id);
    return submission ? [{ change, submission }] : [];
  });
  return { found, unread, error };
}

/** The listing may be old by now: what has come back stays. */
const removeGone: Apply = async (run, page) => {
  const { kind, source, database, revoke } = run.options;
  const back: ChangeRow[] = [];
  const gone: ChangeRow[] = [];
  for (const change of page) {
    const isBack = (await kind.has?.(run.place, change.key)) ?? false;
    (isBack ? back : gone).push(change);
  }
  const ids = gone.flatMap(({ document_id }) => document_id ?? []);
  const shared = await listShared(database, source.id, ids);
  const canceled: number[] = [];
  await run.commit('act', {}, async (transaction, now) => {
    canceled.length = 0;
    const removed = gone.filter(({ document_id }) => !shared.has(document_id ?? ''));
    const removedIds = removed.flatMap(({ document_id }) => document_id ?? []);
    const remove = async (): Promise<NewEvent[]> => {
      const events: NewEvent[] = [];
      for (const { document_id, key } of removed) {
        const removal = { id: document_id ?? '', sourceId: source.id, key, now };
        events.push(...(await removeSoftly(transaction, removal)));
      }
      return events;
    };
    const cancel = await cancelItemsOf(transaction, removedIds, now, remove);
    const { items, events: written } = cancel;
    canceled.push(...items);
    const keys = gone.map(({ key }) => key);
    await deleteEntries(transaction, source.id, keys);
    await markApplied(transaction, gone);
    await dropSome(
      transaction,
      back.map(({ id }) => id),
    );
    await appendEvents(transaction, written, now);
  });
  revoke(canceled);
};

/** A person decided to keep the documents. */
const keep: Apply = (run, page) =>
  run.commit('act', {}, async (transaction) => {
    const keys = page.map(({ key }) => key);
    await keepEntries(transaction, run.options.source.id, keys);
    await dropSome(
      transaction,
      page.map(({ id }) => id),
    );
  });
