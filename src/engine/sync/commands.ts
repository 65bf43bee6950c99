/** All changes of sources that a person or a program asks for. */
import { Failure } from '../../kernel/failure/failure.ts';
import type { SyncSourceEvent } from '../../kernel/lifecycle/sync-source.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { placeOf } from '../../kernel/name/corpus-name.ts';
import { nextTime, parseSchedule } from '../../kernel/schedule.ts';
import { countWildcards } from '../../pipeline/crawl/glob.ts';
import { appendEvents } from '../../store/delivery/events.ts';
import { getRemoved, listRemoved, restoreDocument } from '../../store/document/removed.ts';
import type { Database, Transaction } from '../../store/driver/database.ts';
import { adoptDocuments, keepEntries, putEntries } from '../../store/sync/entries.ts';
import { getHeldRun, listOpenRuns, moveRun, type SyncRunRow } from '../../store/sync/runs.ts';
import { takeSignal } from '../../store/sync/signals.ts';
import {
  findSyncSource,
  getSyncSource,
  insertSyncSource,
  listSyncSources,
  moveSyncSource,
  type SyncSourceRow,
  setHook,
  setSchedule,
} from '../../store/sync/sources.ts';
import { cancelRuns, removeSource } from '../command/remove-sources.ts';
import type { SourceKinds } from './runner.ts';
import type { SyncOptions } from './source-kind.ts';
import { type RunCause, startRun } from './start.ts';

export interface SyncCommandsOptions {
  readonly database: Database;
  readonly kinds: SourceKinds;
  /** A run may have to be begun. */
  readonly wake: () => void;
}

export interface NewSourceInput {
  readonly caller: string;
  /** The full name of the corpus. */
  readonly corpus: string;
  /** Absent: made from the location. */
  readonly name?: string | undefined;
  readonly kind: string;
  readonly location: string;
  readonly options?: SyncOptions | undefined;
  readonly schedule?: string | undefined;
}

export interface SourceName {
  readonly caller: string;
  readonly name: string;
}

export class SyncCommands {
  readonly #options: SyncCommandsOptions;

  constructor(options: SyncCommandsOptions) {
    this.#options = options;
  }

  /**
   * Follows a place. The same place of the same corpus is one source: then only its schedule and
   * options change. Documents of the corpus that were ingested from the place become its own.
   */
  async add(input: NewSourceInput): Promise<SyncSourceRow> {
    const { database, kinds } = this.#options;
    const { caller, corpus, options = {} } = input;
    const kind = kinds.get(input.kind);
    if (!kind) {
      const names = [...kinds.keys()].join(', ');
      throw new Failure('bad_request', `no source is of the kind ${input.kind}; kinds: ${names}`);
    }
    checkOptions(options);
    const location = await kind.check({ location: input.location, options });
    const schedule = input.schedule === undefined ? undefined : parseSchedule(input.schedule);
    const name = checkName(input.name ?? nameOf(location));
    const prefix = kind.prefixOf?.({ location, options });
    await this.#write(async (transaction) => {
      const now = database.now();
      const times = { ...timesOf(input.schedule ?? null, now), now };
      const chosen = { ...times, options: JSON.stringify(options) };
      const place = { caller, corpus, kind: kind.name, location };
      const known = await findSyncSource(transaction, place);
      if (known && (input.name === undefined || known.name === name)) {
        await setSchedule(transaction, { ...known, ...kept(input, chosen), now });
        return;
      }
      const at = placeOf({ caller, corpus });
      const row = { ...place, ...chosen, name, place_caller: at.caller, place_corpus: at.corpus };
      const sourceId = await this.#insert(transaction, row);
      if (prefix) await adoptDocuments(transaction, { sourceId, place: at, prefix });
      // An interval begins with a run.
      if (schedule?.kind === 'every') {
        await startRun(transaction, { sourceId, cause: 'schedule', isPlan: false }, now);
      }
    });
    const found = { caller, corpus, kind: kind.name, location };
    const added =
      input.name === undefined
        ? await findSyncSource(database, found)
        : await getSyncSource(database, { caller, name });
    return added ?? this.source({ caller, name });
  }

  async source({ caller, name }: SourceName): Promise<SyncSourceRow> {
    const row = await getSyncSource(this.#options.database, { caller, name });
    if (row) return row;
    throw new Failure('sync_source_unknown', `there is no source ${name}`);
  }

  /**
   * Changes the schedule and options of a source. What is not named stays; null is no schedule. The
   * next run compares everything again.
   */
  async update(
    of: SourceName,
    { schedule, options = {} }: { schedule?: string | null | undefined; options?: SyncOptions },
  ): Promise<SyncSourceRow> {
    const { database, kinds } = this.#options;
    const known = await this.source(of);
    const named = Object.entries(options).filter(([, value]) => value !== undefined);
    const whole: SyncOptions = { ...JSON.parse(known.options), ...Object.fromEntries(named) };
    checkOptions(whole);
    const { location } = known;
    if (named.length > 0) await kinds.get(known.kind)?.check({ location, options: whole });
    await this.#write(async (transaction) => {
      const now = database.now();
      const times = schedule === undefined ? {} : timesOf(schedule, now);
      const changed = { ...known, ...times, options: JSON.stringify(whole), now };
      await setSchedule(transaction, changed);
    });
    return this.source(of);
  }

  /** The address that takes signed messages of a change, and its secret. Null: there is none. */
  async setHook(of: SourceName, hook: Pick<SyncSourceRow, 'hook' | 'hook_secret'>) {
    const { id } = await this.source(of);
    await this.#write((transaction) => setHook(transaction, { id, ...hook }));
  }

  /** A message says that the source has changed. The same message counts once. */
  async changed({ id, name, state }: SyncSourceRow, key: string): Promise<void> {
    const { database } = this.#options;
    await this.#write(async (transaction) => {
      const now = database.now();
      if (!(await takeSignal(transaction, { source_id: id, key, now }))) {
        throw new Failure('forbidden', 'this message was received before');
      }
      const run = { sourceId: id, cause: 'webhook', isPlan: false } as const;
      if ((await startRun(transaction, run, now)) !== undefined) return;
      throw new Failure('action_not_allowed', `the source ${name} is ${state}: resume it first`);
    });
  }

  /** Returns the id of the run. */
  async run(of: SourceName, { cause, isPlan }: { cause: RunCause; isPlan: boolean }) {
    const { database } = this.#options;
    const { id: sourceId, name, state } = await this.source(of);
    const runId = await this.#write((transaction) =>
      startRun(transaction, { sourceId, cause, isPlan }, database.now()),
    );
    if (runId !== undefined) return runId;
    const message = `the source ${name} is ${state}: resume it first`;
    throw new Failure('action_not_allowed', message);
  }

  pause(of: SourceName): Promise<SyncSourceRow> {
    return this.#move(of, 'pause');
  }

  resume(of: SourceName): Promise<SyncSourceRow> {
    return this.#move(of, 'resume');
  }

  /** The documents stay in the corpus. */
  async remove(of: SourceName): Promise<void> {
    const { id } = await this.source(of);
    await this.#write((transaction) => removeSource(transaction, id, this.#options.database.now()));
  }

  /** Decides about the removals that a run holds back. Returns the run. */
  async decide(of: SourceName, decision: 'apply' | 'ignore'): Promise<SyncRunRow> {
    const { database } = this.#options;
    const { id: sourceId, name } = await this.source(of);
    const moved = await this.#write(async (transaction) => {
      const run = await getHeldRun(transaction, sourceId);
      if (!run) return undefined;
      const { id, epoch } = run;
      const move = { id, epoch, event: decision, removals: decision, now: database.now() };
      return moveRun(transaction, move);
    });
    if (moved) return moved;
    throw new Failure('action_not_allowed', `no run of the source ${name} is held`);
  }

  /**
   * Brings removed documents back: those with these keys, or all. They stay although the source
   * lacks them. Returns how many.
   */
  async restore(of: SourceName, keys?: readonly string[]): Promise<number> {
    const { database } = this.#options;
    const source = await this.source(of);
    const limit = limits.job.itemsMax;
    const removed = await listRemoved(database, { source_id: source.id, limit });
    const chosen = keys && new Set(keys);
    const wanted = removed.filter(({ key }) => key !== null && (chosen?.has(key) ?? true));
    let restored = 0;
    for (let at = 0; at < wanted.length; at += limits.sync.renamesMax) {
      const ids = wanted.slice(at, at + limits.sync.renamesMax).map((row) => row.document_id);
      restored += await this.#write((transaction) => this.#restore(transaction, source, ids));
    }
    return restored;
  }

  async #restore(
    transaction: Transaction,
    source: SyncSourceRow,
    ids: readonly string[],
  ): Promise<number> {
    const now = this.#options.database.now();
    const place = { caller: source.place_caller, corpus: source.place_corpus };
    let restored = 0;
    for (const id of ids) {
      const row = await getRemoved(transaction, id);
      if (!row || row.key === null) continue;
      const events = await restoreDocument(transaction, { id, place, source: row.source, now });
      if (!events) continue;
      const entry = { key: row.key, document_id: id, stamp: '', size: null };
      await putEntries(transaction, source.id, [entry]);
      await keepEntries(transaction, source.id, [row.key]);
      await appendEvents(transaction, events, now);
      restored += 1;
    }
    return restored;
  }

  async #insert(
    transaction: Transaction,
    row: Parameters<typeof insertSyncSource>[1],
  ): Promise<number> {
    const { sourcesMax } = limits.sync;
    const { caller } = row;
    if ((await listSyncSources(transaction, { caller, limit: sourcesMax })).length >= sourcesMax) {
      throw new Failure('bad_request', `a caller has up to ${sourcesMax} sources: remove some`);
    }
    const id = await insertSyncSource(transaction, row);
    if (id !== undefined) return id;
    const message = `there is a source ${row.name} already: give this one another --name`;
    throw new Failure('bad_request', message);
  }

  async #move(of: SourceName, event: SyncSourceEvent): Promise<SyncSourceRow> {
    const { database } = this.#options;
    const { id, name, state, schedule } = await this.source(of);
    const isMoved = await this.#write(async (transaction) => {
      const now = database.now();
      // Times that passed during the pause are run once, now.
      const nextAt = event === 'resume' && schedule !== null ? now : null;
      const moved = await moveSyncSource(transaction, { id, event, nextAt, now });
      if (moved && event === 'pause') {
        await cancelRuns(transaction, await listOpenRuns(transaction, id), now);
      }
      return moved;
    });
    if (isMoved) return this.source(of);
    throw new Failure('action_not_allowed', `the source ${name} is ${state}: it takes no ${event}`);
  }

  async #write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const result = await this.#options.database.write(work);
    this.#options.wake();
    return result;
  }
}

/** What a request does not name stays as it is. */
function kept<Times extends { readonly options: string }>(
  { schedule, options = {} }: NewSourceInput,
  { options: chosen, ...times }: Times,
) {
  const isChosen = Object.values(options).some((value) => value !== undefined);
  return { ...(schedule !== undefined && times), ...(isChosen && { options: chosen }) };
}

function timesOf(schedule: string | null, now: number) {
  if (schedule === null) return { schedule, every_ms: null, next_at: null };
  const parsed = parseSchedule(schedule);
  const every_ms = parsed.kind === 'every' ? parsed.longestMs : null;
  return { schedule, every_ms, next_at: firstTime(parsed, now) };
}

/** An interval begins now; cron fields at their first time. */
function firstTime(schedule: ReturnType<typeof parseSchedule>, now: number): number {
  return schedule.kind === 'every' ? now : nextTime(schedule, now);
}

function checkName(name: string): string {
  if (limits.sync.namePattern.test(name)) return name;
  const form = '1 to 64 of a-z, 0-9, dot, dash and underscore, starting with a letter or digit';
  throw new Failure('bad_request', `the name of a source has ${form}, not ${name}`);
}

/** The last part of the location. */
function nameOf(location: string): string {
  const [last = ''] = location
    .split(/[\\/]+/)
    .filter((part) => part !== '')
    .slice(-1);
  const name = last
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '');
  return name.slice(0, limits.sync.nameCharactersMax) || 'source';
}

function checkOptions({ include = [], exclude = [] }: SyncOptions): void {
  const globs = [...include, ...exclude];
  if (globs.length > limits.sync.patternsMax) {
    throw new Failure('bad_request', `a source has up to ${limits.sync.patternsMax} globs`);
  }
  for (const glob of globs) {
    const { crawlPatternCharactersMax, crawlWildcardsMax } = limits.job;
    const isShort = glob.length <= crawlPatternCharactersMax;
    if (isShort && countWildcards(glob) <= crawlWildcardsMax) continue;
    const bound = `${crawlPatternCharactersMax} characters and ${crawlWildcardsMax} wildcards`;
    throw new Failure('bad_request', `a glob has up to ${bound}`);
  }
}
