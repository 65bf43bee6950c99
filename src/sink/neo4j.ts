/**
 * Neo4j: the entities of documents, and which are named together (`neo4j-statements.ts`). Batches
 * are written in key order, so that two documents with common entities wait for each other instead
 * of deadlocking. If they deadlock all the same, the step is retried.
 */
import { createHash } from 'node:crypto';
import neo4j, { type Driver, type ManagedTransaction, type Session } from 'neo4j-driver';
import { Failure, type FailureCode } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import * as statements from './neo4j-statements.ts';
import type { CorpusModel, DocumentState, Generation, Sink } from './sink.ts';

export interface Neo4jOptions {
  readonly url: string;
  readonly user: string;
  readonly password?: string | undefined;
  /** The user's default database if absent. */
  readonly database?: string | undefined;
  readonly world: World;
}

type Runner = Pick<ManagedTransaction, 'run'>;

export function openNeo4j({ url, user, password, ...options }: Neo4jOptions): Sink {
  const auth = password === undefined ? undefined : neo4j.auth.basic(user, password);
  const driver = neo4j.driver(url, auth, {
    disableLosslessIntegers: true,
    maxConnectionPoolSize: limits.sink.connectionsMax,
    connectionTimeout: limits.sink.searchMs,
    connectionAcquisitionTimeout: limits.sink.callMs,
    // The engine decides whether and when to retry.
    maxTransactionRetryTime: 0,
    telemetryDisabled: true,
    userAgent: 'pawl',
  });
  return new Neo4jSink(driver, options);
}

class Neo4jSink implements Sink {
  readonly name = 'neo4j';
  readonly keeps = 'entities';
  readonly #driver: Driver;
  readonly #options: Pick<Neo4jOptions, 'database' | 'world'>;
  #isPrepared = false;

  constructor(driver: Driver, options: Pick<Neo4jOptions, 'database' | 'world'>) {
    this.#driver = driver;
    this.#options = options;
  }

  async write(
    generation: Generation,
    _models: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const { id, caller, corpus, documentId, source } = generation;
    const entities = await generation.entities();
    const keys = new Map(
      entities.map(({ ordinal, kind, name }) => [ordinal, keyOf({ caller, corpus, kind, name })]),
    );
    const named = entities.map(({ ordinal, kind, name, aliases, mentions }) => {
      const key = keys.get(ordinal) ?? '';
      return { key, kind, name, aliases: [...aliases], mentions: neo4j.int(mentions) };
    });
    const related = (await generation.relations()).map(({ one, other, weight }) => {
      const [first, second] = [keys.get(one) ?? '', keys.get(other) ?? ''].sort();
      return { one: first ?? '', other: second ?? '', weight: neo4j.int(weight) };
    });
    const head = { id: documentId, caller, corpus, generation: neo4j.int(id) };
    await this.#prepare(signal);
    await this.#run(statements.writeDocument, { ...head, source }, signal);
    for (const rows of batches(named, ({ key }) => key)) {
      await this.#run(statements.writeEntities, { ...head, rows }, signal);
    }
    for (const rows of batches(related, ({ one, other }) => `${one}${other}`)) {
      await this.#run(statements.writeRelations, { ...head, rows }, signal);
    }
  }

  /** One transaction: readers see the state before or after it. */
  async settle(state: DocumentState, signal: AbortSignal): Promise<void> {
    await this.#prepare(signal);
    await this.#within(signal, async (session) => {
      const transaction = await session.beginTransaction({ timeout: limits.sink.callMs });
      await settleIn(transaction, state);
      await transaction.commit();
    });
  }

  async tidy(kept: () => Promise<readonly CorpusModel[]>, signal: AbortSignal): Promise<void> {
    const there = await this.#run(statements.listCorpora, {}, signal);
    const names = new Set((await kept()).map(({ corpus }) => corpus));
    for (const record of there.records) {
      const corpus: string = record.get('corpus');
      if (names.has(corpus)) continue;
      for (const statement of [statements.removeDocuments, statements.removeEntities]) {
        await this.#removeAll(statement, corpus, signal);
      }
    }
  }

  async size({ corpus }: CorpusModel, signal: AbortSignal): Promise<number> {
    const { records } = await this.#run(statements.countDocuments, { corpus }, signal);
    return records[0]?.get('count') ?? 0;
  }

  /** Runs a statement: the driver would report a connection as usable without using it. */
  async check(signal: AbortSignal): Promise<string> {
    const { summary } = await this.#run(statements.ping, {}, signal);
    const { agent = 'Neo4j', protocolVersion } = summary.server;
    return `${agent}, Bolt ${protocolVersion}`;
  }

  async close(): Promise<void> {
    await this.#driver.close();
  }

  async #prepare(signal: AbortSignal): Promise<void> {
    if (this.#isPrepared) return;
    for (const statement of statements.schema) await this.#run(statement, {}, signal);
    this.#isPrepared = true;
  }

  async #removeAll(statement: string, corpus: string, signal: AbortSignal): Promise<void> {
    const limit = neo4j.int(limits.loop.pruneBatchMax);
    for (;;) {
      const { records } = await this.#run(statement, { corpus, limit }, signal);
      if (!records[0]?.get('count')) return;
    }
  }

  #run(statement: string, parameters: Record<string, unknown>, signal: AbortSignal) {
    return this.#within(signal, (session) => session.run(statement, parameters));
  }

  async #within<T>(signal: AbortSignal, work: (session: Session) => Promise<T>): Promise<T> {
    const { database } = this.#options;
    const session = this.#driver.session(database === undefined ? {} : { database });
    try {
      return await this.#bounded(signal, work(session));
    } finally {
      // Closing rolls back an open transaction. A broken session repeats its earlier error.
      await session.close().catch(() => undefined);
    }
  }

  /** The driver takes no signal: an interrupted caller stops waiting for it. */
  async #bounded<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
    const { promise: ended, reject: end } = Promise.withResolvers<never>();
    const stop = (): void => end(signal.reason);
    const overdue = new Failure('neo4j_unavailable', 'Neo4j did not answer in time');
    const cancel = this.#options.world.setTimer(() => end(overdue), limits.sink.callMs);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      return await Promise.race([work, ended]);
    } catch (error) {
      throw error instanceof Failure || signal.aborted ? error : failureOf(error);
    } finally {
      cancel();
      signal.removeEventListener('abort', stop);
      // The later of the two has no listener left.
      work.catch(() => undefined);
    }
  }
}

async function settleIn(transaction: Runner, state: DocumentState): Promise<void> {
  const { documentId: id, current, title, language } = state;
  // No generation has the number 0, so a deleted document has no current one.
  const outlived = { id, asOf: neo4j.int(state.asOf), current: neo4j.int(current ?? 0) };
  await transaction.run(statements.flip, { ...outlived, title, language });
  const { records } = await transaction.run(statements.removeNames, outlived);
  await transaction.run(statements.removeRelations, outlived);
  const keys = records.map((record) => String(record.get('key'))).sort();
  if (keys.length > 0) await transaction.run(statements.removeUnnamed, { keys });
  if (current === undefined) await transaction.run(statements.removeDocument, outlived);
}

/** One node per caller, corpus, kind and name. */
function keyOf(of: { caller: string; corpus: string; kind: string; name: string }): string {
  const { caller, corpus, kind, name } = of;
  return createHash('sha256').update([caller, corpus, kind, name].join('\0')).digest('hex');
}

function* batches<T>(all: readonly T[], keyOfRow: (row: T) => string): Generator<readonly T[]> {
  const rows = all.toSorted((one, other) => (keyOfRow(one) < keyOfRow(other) ? -1 : 1));
  for (let at = 0; at < rows.length; at += limits.sink.batchMax) {
    yield rows.slice(at, at + limits.sink.batchMax);
  }
}

/** Neo4j error codes, the more specific first. */
const codes: readonly [RegExp, FailureCode][] = [
  [/^Neo\.TransientError\.Transaction\.\w*(?:Deadlock|Lock)/, 'neo4j_write_lock'],
  // Two writers create the same node, or one refers to a node that another removes.
  [/\.(?:ConstraintValidationFailed|EntityNotFound)$/, 'neo4j_write_lock'],
  [/^Neo\.ClientError\.Security\.AuthenticationRateLimit$/, 'rate_limited'],
  [/^Neo\.(?:ClientError|DatabaseError)\./, 'neo4j_refused'],
  // The driver's codes for a missing or broken connection.
  [/^(?:ServiceUnavailable|SessionExpired)$/, 'neo4j_unavailable'],
  [/^Neo\.TransientError\.(?:General\.DatabaseUnavailable|Cluster|Network)/, 'neo4j_unavailable'],
];

function failureOf(error: unknown): Failure {
  const { code = '', message = String(error) } = error as { code?: string; message?: string };
  const found = codes.find(([pattern]) => pattern.test(code))?.[1] ?? 'neo4j_failed';
  const text = `Neo4j: ${code} ${message}`.slice(0, limits.sink.errorCharactersMax);
  return new Failure(found, text, { cause: error });
}
