/** Commands of operators and owners on callers: keys, ownership, shares. */

import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { type CorpusPlace, nameFor, placeOf } from '../../kernel/name/corpus-name.ts';
import type { NewEvent } from '../../observe/event.ts';
import {
  type CallerRow,
  callerOfKey,
  ensureCaller,
  getCaller,
  linkKey,
  listIdentities,
  lockCallers,
  mergeCallers,
  ownsAnything,
  unknownCaller,
  unlinkKey,
} from '../../store/caller/callers.ts';
import { beginMove, listOwned } from '../../store/caller/ownership-moves.ts';
import { listShares, putShare, removeShare, type ShareAccess } from '../../store/corpus/access.ts';
import { appendEvents } from '../../store/delivery/events.ts';
import type { Database, Reader, Transaction } from '../../store/driver/database.ts';
import type { Ring } from '../commit-signal.ts';
import { carryOutMoves } from './ownership-moves.ts';

export interface CallerCommandOptions {
  readonly database: Database;
  readonly ring: (ring: Ring) => void;
}

/** Confirmation of an action that cannot be undone. */
export interface Confirmed {
  readonly isConfirmed?: boolean | undefined;
}

export interface Share {
  readonly owner: string;
  readonly place: CorpusPlace;
  /** The id or the name of the caller that it is shared with. */
  readonly guest: string;
}

export class CallerCommands {
  readonly #options: CallerCommandOptions;

  constructor(options: CallerCommandOptions) {
    this.#options = options;
  }

  /**
   * Links the key to the caller. If the key was the only one of another caller that owns something,
   * the two are merged: that has to be confirmed.
   */
  async link(id: string, hash: string, { isConfirmed }: Confirmed = {}): Promise<CallerRow> {
    const key = readKeyId(hash);
    const caller = await this.#write(async (transaction, now) => {
      const row = await knownCaller(transaction, id);
      const before = await callerOfKey(transaction, key);
      if (before !== undefined && before !== row.id && (await isOnlyBy(transaction, before, key))) {
        if (!isConfirmed) throw wouldMerge(key, before, row.id);
        const events = await mergeCallers(transaction, { from: before, to: row.id, now });
        await appendEvents(transaction, events, now);
      } else await linkKey(transaction, { caller: row.id, key, now });
      return row;
    });
    await this.carryOut();
    return caller;
  }

  /**
   * Unlinks the key from the caller. If nothing else leads to the caller, that has to be confirmed.
   */
  async unlink(id: string, hash: string, { isConfirmed }: Confirmed = {}): Promise<CallerRow> {
    const key = readKeyId(hash);
    return this.#write(async (transaction, now) => {
      const row = await knownCaller(transaction, id);
      if (!isConfirmed && (await isOnlyBy(transaction, row.id, key))) {
        const message = `${key} is the only key of ${row.id}, which owns something:`;
        throw new Failure('action_not_allowed', `${message} confirm it, or link another key first`);
      }
      if (await unlinkKey(transaction, { caller: row.id, key, now })) return row;
      throw new Failure('caller_unknown', `the key ${key} does not belong to the caller ${row.id}`);
    });
  }

  /** Moves everything that a caller owns, or one corpus with its jobs, to another caller. */
  async move(
    from: string,
    to: string,
    { corpus }: { readonly corpus?: string | undefined } = {},
  ): Promise<{ readonly from: string; readonly to: string; readonly corpora: number }> {
    const moved = await this.#write(async (transaction, now) => {
      const old = await knownCaller(transaction, from);
      const next = await ensureCaller(transaction, to, now);
      if (old.id === next.id) throw new Failure('bad_request', `${from} and ${to} are one caller`);
      const owned = await listOwned(transaction, old.id);
      const place = corpus === undefined ? undefined : ownedPlace(owned, old.id, corpus);
      const places = place ? [place] : owned;
      await beginMove(transaction, { from: old.id, to: next.id, place, now });
      const events: NewEvent[] = places.map((each) => {
        const named = { corpus: nameFor(next.id, each), from: old.id };
        return { kind: 'corpus_moved', jobId: null, detail: { caller: next.id, ...named } };
      });
      await appendEvents(transaction, events, now);
      return { from: old.id, to: next.id, corpora: places.length };
    });
    await this.carryOut();
    return moved;
  }

  async share({ owner, place, guest }: Share, access: ShareAccess): Promise<CallerRow> {
    return this.#write(async (transaction, now) => {
      const row = await ensureCaller(transaction, checkCallerId(guest), now);
      if (row.id === owner) throw new Failure('bad_request', `${guest} already owns this corpus`);
      const shares = await listShares(transaction, place);
      const { sharesMax } = limits.caller;
      if (shares.length >= sharesMax && !shares.some(({ caller }) => caller === row.id)) {
        const message = `a corpus can be shared with at most ${sharesMax} callers`;
        throw new Failure('action_not_allowed', message);
      }
      await putShare(transaction, { ...place, guest: row.id, access, now });
      const detail = { caller: owner, corpus: nameFor(owner, place), with: row.id, access };
      await appendEvents(transaction, [{ kind: 'corpus_shared', jobId: null, detail }], now);
      return row;
    });
  }

  /** False: it was not shared with this caller. */
  async unshare({ owner, place, guest }: Share): Promise<boolean> {
    return this.#write(async (transaction, now) => {
      const row = await getCaller(transaction, guest);
      if (!row || !(await removeShare(transaction, { ...place, guest: row.id }))) return false;
      const detail = { caller: owner, corpus: nameFor(owner, place), with: row.id };
      await appendEvents(transaction, [{ kind: 'corpus_unshared', jobId: null, detail }], now);
      return true;
    });
  }

  /** Continues open moves now, in this process. */
  async carryOut(): Promise<void> {
    if ((await carryOutMoves(this.#options.database)) > 0) this.#options.ring('news');
  }

  async #write<T>(work: (transaction: Transaction, now: number) => Promise<T>): Promise<T> {
    const { database, ring } = this.#options;
    const result = await database.write(async (transaction) => {
      await lockCallers(transaction);
      return work(transaction, database.now());
    });
    ring('news');
    return result;
  }
}

async function knownCaller(reader: Reader, id: string): Promise<CallerRow> {
  const row = await getCaller(reader, id);
  if (row) return row;
  throw unknownCaller(id);
}

/** The caller owns something, and nothing but this key leads to it. */
async function isOnlyBy(reader: Reader, caller: string, key: string): Promise<boolean> {
  const identities = await listIdentities(reader, caller);
  if (identities.some(({ kind, subject }) => kind !== 'key' || subject !== key)) return false;
  return ownsAnything(reader, caller);
}

function wouldMerge(key: string, from: string, to: string): Failure {
  const message = `the key ${key} already belongs to the caller ${from}, which owns something`;
  return new Failure('action_not_allowed', `${message}: confirm that ${from} is merged into ${to}`);
}

function ownedPlace(owned: readonly CorpusPlace[], caller: string, name: string): CorpusPlace {
  const wanted = placeOf({ caller, corpus: name });
  const exact = owned.find((place) => nameFor(caller, place) === nameFor(caller, wanted));
  const named = owned.filter(({ corpus }) => corpus === name);
  const found = exact ?? (named.length === 1 ? named[0] : undefined);
  if (found) return found;
  throw new Failure('corpus_unknown', `${caller} has no corpus ${JSON.stringify(name)}`);
}

/** `sha256:` and 64 digits, as in PAWL_API_KEYS, or the 16 digits of a caller id. */
export function readKeyId(hash: string): string {
  const [, digits] = /^(?:sha256:)?([0-9a-f]{64}|[0-9a-f]{16})$/i.exec(hash) ?? [];
  if (digits !== undefined) return digits.slice(0, 16).toLowerCase();
  // The input is not repeated: it may be the key itself.
  const message = 'name a key by its hash: sha256: and 64 hexadecimal digits';
  throw new Failure('bad_request', `${message}, or the first 16; never send the key itself`);
}

function checkCallerId(id: string): string {
  if (id.length <= limits.key.callerIdCharactersMax && /^[\x21-\x7e]+$/.test(id)) return id;
  throw new Failure('bad_request', `${JSON.stringify(id)} is not a caller id`);
}
