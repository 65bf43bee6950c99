/**
 * One run of a source, from where it stands to its end. Each page is one transaction that begins
 * with a compare-and-set on the epoch of the run: a process that was given up changes nothing, and
 * the next one continues after the last page that was committed.
 */

import type { BlobStore } from '../../blob/blob.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { type SyncRunEvent, syncRunState } from '../../kernel/lifecycle/sync-run.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { failpoint } from '../../observe/failpoint.ts';
import type { Database, Transaction } from '../../store/driver/database.ts';
import { dropChanges, insertChanges } from '../../store/sync/changes.ts';
import { getStamps, listEntries, missEntries, restampEntries } from '../../store/sync/entries.ts';
import { moveRun, type SyncRunMoved, type SyncRunRow } from '../../store/sync/runs.ts';
import type { SyncSourceRow } from '../../store/sync/sources.ts';
import { applyChanges } from './apply.ts';
import { type Comparing, compare, readRange } from './compare.ts';
import type { Reading } from './content.ts';
import { matchMoves } from './match.ts';
import {
  compareKeys,
  type FollowedPlace,
  type ListedPage,
  type SourceKind,
} from './source-kind.ts';
import { beginListing } from './start.ts';

export interface RunOptions {
  readonly database: Database;
  readonly world: World;
  readonly kind: SourceKind;
  /** Needed by kinds that read content themselves. */
  readonly blobs?: BlobStore | undefined;
  readonly source: SyncSourceRow;
  readonly signal: AbortSignal;
  /** Items were submitted. */
  readonly ring: () => void;
  /** These items were taken away: work on them in this process can stop. */
  readonly revoke: (itemIds: readonly number[]) => void;
}

/** The run was taken away, canceled or superseded: nothing more of it counts. */
export class Fenced extends Error {}

type PageMove = Omit<SyncRunMoved, 'id' | 'epoch' | 'now' | 'event' | 'heldUntil'>;

export class SourceRun {
  readonly options: RunOptions;
  readonly place: FollowedPlace;
  #row: SyncRunRow;
  /** What the listing leaves for the next one. A process that takes the run over has none. */
  cursor: string | null = null;

  constructor(options: RunOptions, row: SyncRunRow) {
    this.options = options;
    this.#row = row;
    const { location, options: chosen } = options.source;
    this.place = { location, options: JSON.parse(chosen) };
  }

  get row(): SyncRunRow {
    return this.#row;
  }

  /** Works until the run has ended, or waits for a person. */
  async toEnd(): Promise<void> {
    if (this.#row.state === syncRunState.listing) await this.#list();
    if (this.#row.state === syncRunState.matching) await this.#match();
    if (this.#row.state === syncRunState.applying) await applyChanges(this);
  }

  /** Commits a page with its move. Throws if the run was taken away. */
  async commit(
    event: SyncRunEvent,
    move: PageMove,
    write: (transaction: Transaction, now: number) => Promise<void> = async () => undefined,
  ): Promise<void> {
    const { database, world, signal } = this.options;
    signal.throwIfAborted();
    const { id, epoch } = this.#row;
    this.#row = await database.write(async (transaction) => {
      const now = database.now();
      const heldUntil = now + limits.sync.holdMs;
      const moved = await moveRun(transaction, { ...move, id, epoch, event, now, heldUntil });
      if (!moved) throw new Fenced(`the run ${id} was taken away`);
      await write(transaction, now);
      failpoint(world, 'sync.before-commit');
      return moved;
    });
    failpoint(world, 'sync.after-commit');
  }

  async #list(): Promise<void> {
    const { kind, signal, database, source } = this.options;
    const { cursor } = source;
    const stamps = (keys: readonly string[]) => getStamps(database, source.id, keys);
    let last = this.#row.cursor;
    if (last === '') {
      await this.commit('list', {}, (transaction, now) =>
        beginListing(transaction, this.#row, now),
      );
    }
    for await (const page of kind.list(this.place, { after: last, signal, cursor, stamps })) {
      last = await this.#takePage(page, last);
    }
    await this.#takeRest();
    await this.commit('complete', {});
  }

  /** Compares one page. Returns the last key, after which a later process continues. */
  async #takePage(page: ListedPage, after: string): Promise<string> {
    const { entries, problems } = page;
    this.cursor = page.cursor ?? this.cursor;
    const until = lastOf(page);
    const error = problems[0] && errorOf(problems[0]);
    if (until === undefined) {
      if (error !== undefined) await this.commit('list', { cursor: after, error });
      return after;
    }
    this.#checkOrder([after, ...entries.map(({ key }) => key)]);
    this.#checkOrder([after, ...(page.gone ?? [])]);
    const known = await readRange(this.#comparing, { after, until });
    const compared = await compare(this.#comparing, page, known);
    const { changes, restamped, missed, unchanged } = compared;
    const counted = { listed: entries.length, unchanged, error };
    await this.commit('list', { cursor: until, ...counted }, async (transaction) => {
      const { id, source_id } = this.#row;
      const stamps = restamped.map(({ key, stamp, size }) => ({ key, stamp: stamp ?? '', size }));
      if (stamps.length > 0) await restampEntries(transaction, source_id, stamps);
      if (changes.length > 0) await insertChanges(transaction, id, changes);
      await this.#miss(transaction, missed);
    });
    return until;
  }

  /** Entries after the end of the listing are missing as well. */
  async #takeRest(): Promise<void> {
    const limit = limits.sync.pageMax;
    const { database } = this.options;
    for (let isFull = true; isFull; ) {
      const { source_id: sourceId, cursor: after } = this.#row;
      const rest = await listEntries(database, { sourceId, after, limit });
      isFull = rest.length === limit;
      const { changes, missed } = await compare(this.#comparing, { entries: [] }, rest);
      const cursor = rest.at(-1)?.key ?? after;
      if (rest.length === 0) return;
      await this.commit('list', { cursor }, async (transaction) => {
        await insertChanges(transaction, this.#row.id, changes);
        await this.#miss(transaction, missed);
      });
    }
  }

  async #miss(transaction: Transaction, keys: readonly string[]): Promise<void> {
    const { id, source_id, is_plan } = this.#row;
    if (keys.length === 0 || is_plan === 1) return;
    await missEntries(transaction, { runId: id, sourceId: source_id }, keys);
  }

  async #match(): Promise<void> {
    const { id, error } = this.#row;
    // What an incomplete listing lacks may still be there.
    if (error === null) await matchMoves(this);
    await this.commit('decide', {}, async (transaction) => {
      if (error !== null) await dropChanges(transaction, { run_id: id, kind: 'removed' });
    });
  }

  get reading(): Reading {
    const { kind, blobs, signal } = this.options;
    return { kind, place: this.place, blobs, signal };
  }

  get #comparing(): Comparing {
    const { database, world, source } = this.options;
    return { ...this.reading, reader: database, world, sourceId: source.id };
  }

  /** Keys out of order would make the comparison miss entries, and remove what is there. */
  #checkOrder(keys: readonly string[]): void {
    const wrong = keys.findIndex(
      (key, index) => index > 0 && compareKeys(keys[index - 1] as string, key) >= 0,
    );
    if (wrong < 0) return;
    const named = `${JSON.stringify(keys[wrong])} after ${JSON.stringify(keys[wrong - 1])}`;
    const message = `the kind ${this.options.kind.name} lists ${named}: keys must rise by bytes`;
    throw new Failure('internal_error', message);
  }
}

/** The last key that a page speaks of. */
function lastOf({ entries, gone = [] }: ListedPage): string | undefined {
  const [one, other] = [entries.at(-1)?.key, gone.at(-1)];
  if (one === undefined || other === undefined) return one ?? other;
  return compareKeys(one, other) > 0 ? one : other;
}

export function errorOf({ code, message }: Failure): string {
  return JSON.stringify({ code, message });
}
