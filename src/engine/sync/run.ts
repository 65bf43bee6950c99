/**
 * One run of a source, from where it stands to its end. Each page is one transaction that begins
 * with a compare-and-set on the epoch of the run: a process that was given up changes nothing, and
 * the next one continues after the last page that was committed.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import { type SyncRunEvent, syncRunState } from '../../kernel/lifecycle/sync-run.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { failpoint } from '../../observe/failpoint.ts';
import type { Database, Transaction } from '../../store/driver/database.ts';
import { dropChanges, insertChanges } from '../../store/sync/changes.ts';
import { listEntries, restampEntries } from '../../store/sync/entries.ts';
import { moveRun, type SyncRunMoved, type SyncRunRow } from '../../store/sync/runs.ts';
import type { SyncSourceRow } from '../../store/sync/sources.ts';
import { applyChanges } from './apply.ts';
import { type Comparing, compare, readRange } from './compare.ts';
import { matchMoves } from './match.ts';
import {
  compareKeys,
  type FollowedPlace,
  type ListedPage,
  type SourceKind,
} from './source-kind.ts';

export interface RunOptions {
  readonly database: Database;
  readonly world: World;
  readonly kind: SourceKind;
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
    const { kind, signal } = this.options;
    let last = this.#row.cursor;
    for await (const page of kind.list(this.place, { after: last, signal })) {
      last = await this.#takePage(page, last);
    }
    await this.#takeRest();
    await this.commit('complete', {});
  }

  /** Compares one page. Returns the last key, after which a later process continues. */
  async #takePage({ entries, problems }: ListedPage, after: string): Promise<string> {
    const until = entries.at(-1)?.key;
    const error = problems[0] && errorOf(problems[0]);
    if (until === undefined) {
      if (error !== undefined) await this.commit('list', { cursor: after, error });
      return after;
    }
    this.#checkOrder([after, ...entries.map(({ key }) => key)]);
    const known = await readRange(this.#comparing, { after, until });
    const compared = await compare(this.#comparing, entries, known);
    const { changes, restamped, unchanged } = compared;
    const counted = { listed: entries.length, unchanged, error };
    await this.commit('list', { cursor: until, ...counted }, async (transaction) => {
      const { id, source_id } = this.#row;
      const stamps = restamped.map(({ key, stamp, size }) => ({ key, stamp: stamp ?? '', size }));
      if (stamps.length > 0) await restampEntries(transaction, source_id, stamps);
      if (changes.length > 0) await insertChanges(transaction, id, changes);
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
      const { changes } = await compare(this.#comparing, [], rest);
      const cursor = rest.at(-1)?.key ?? after;
      if (rest.length === 0) return;
      await this.commit('list', { cursor }, (transaction) =>
        insertChanges(transaction, this.#row.id, changes),
      );
    }
  }

  async #match(): Promise<void> {
    const { id, error } = this.#row;
    // What an incomplete listing lacks may still be there.
    if (error === null) await matchMoves(this);
    await this.commit('decide', {}, async (transaction) => {
      if (error !== null) await dropChanges(transaction, { run_id: id, kind: 'removed' });
    });
  }

  get #comparing(): Comparing {
    const { database, kind, source } = this.options;
    return { reader: database, kind, place: this.place, sourceId: source.id };
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

export function errorOf({ code, message }: Failure): string {
  return JSON.stringify({ code, message });
}
