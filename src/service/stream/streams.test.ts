import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { describe, test } from 'node:test';
import { type Cleanup, temporaryDirectory } from '../../../test/support/temporary.ts';
import { type Latch, makeLatch } from '../../../test/support/test-world.ts';
import { assemble } from '../../app/wire.ts';
import { CommitSignal } from '../../engine/commit-signal.ts';
import { Relay } from '../../engine/relay.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import type { Event } from '../../observe/event.ts';
import { inlineSource } from '../../source/sources.ts';
import { listEvents } from '../../store/delivery/events.ts';
import type { Database } from '../../store/driver/database.ts';
import { getJob } from '../../store/job/jobs.ts';
import { ProgressBoard } from '../view/progress-board.ts';
import { News } from './news.ts';
import { Streams } from './streams.ts';

const caller = 'local';

/** A connection whose client reads on demand. */
class Connection extends Writable {
  #text = '';
  #pending: (() => void) | undefined;
  #isReading = false;
  mostWaiting = 0;

  constructor() {
    super({ highWaterMark: 16 * 1024, decodeStrings: false });
  }

  override _write(chunk: string, _: string, done: () => void): void {
    this.mostWaiting = Math.max(this.mostWaiting, this.writableLength);
    this.#text += chunk;
    if (this.#isReading) setImmediate(done);
    else this.#pending = done;
  }

  read(): void {
    this.#isReading = true;
    this.#pending?.();
  }

  get ids(): number[] {
    return [...this.#text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  }

  get text(): string {
    return this.#text;
  }
}

/** Delayed reads of the log, so that events are published after they are written. */
function behind(database: Database): { database: Database; hold(): void; letGo(): void } {
  let gate: Latch | undefined;
  const run: Database['run'] = async (statement, parameters) => {
    await gate?.opened;
    return database.run(statement, parameters);
  };
  return {
    database: Object.assign(Object.create(database), { run }),
    hold: () => {
      gate = makeLatch();
    },
    letGo: () => gate?.open(),
  };
}

/** A store whose next reads fail. */
function unwilling(database: Database): { database: Database; refuse(times: number): void } {
  let refusals = 0;
  const run: Database['run'] = async (statement, parameters) => {
    if (refusals === 0) return database.run(statement, parameters);
    refusals -= 1;
    throw new Failure('store_busy', 'the store is away');
  };
  return {
    database: Object.assign(Object.create(database), { run }),
    refuse: (times) => {
      refusals = times;
    },
  };
}

/** The fields of a job stream. Items follow a cancel, and may come after the end of the stream. */
function endingWithCancel(events: readonly Event[]): number[] {
  const end = events.findLastIndex(({ kind }) => kind === 'job_canceled');
  return events.slice(0, end + 1).map(({ seq }) => seq);
}

async function setup(t: Cleanup, { isBehind = false } = {}) {
  const assembled = await assemble({ data: temporaryDirectory(t) });
  const { database, engine, lifecycle, world } = assembled;
  const errors: unknown[] = [];
  const onError = (_: string, error: unknown): void => void errors.push(error);
  const slow = behind(database);
  const relay = isBehind
    ? new Relay({ database: slow.database, world, commitSignal: new CommitSignal(), onError })
    : engine.relay;
  const refusing = unwilling(database);
  const news = new News({ database: refusing.database, relay, world, onError });
  const progress = new ProgressBoard();
  const streams = new Streams({ database, news, progress, lifecycle, world, onError });
  await news.start();
  t.after(async () => {
    streams.close();
    await news.stop();
    await relay.close();
    await engine.relay.close();
    await assembled.close();
  });
  const sources = [inlineSource({ text: 'A heron.' })];
  const submit = () => engine.commands.submit({ caller, corpus: 'a', sources });
  const { jobKey, itemIds } = await submit();
  const jobId = (await getJob(database, jobKey))?.id ?? 0;
  const open = (from: { jobId?: number; after: number }, who = caller): Connection => {
    const connection = new Connection();
    const job = from.jobId === undefined ? undefined : { id: from.jobId, key: jobKey };
    const request = { caller: who, after: from.after, job };
    streams.open(request, connection as unknown as ServerResponse);
    return connection;
  };
  /** Creates two events. */
  const stir = async (): Promise<void> => {
    await engine.commands.pause(caller, jobKey);
    await engine.commands.resume(caller, jobKey);
  };
  const list = () => listEvents(database, { jobId, after: 0, limit: 10_000 });
  const all = async (): Promise<number[]> => (await list()).map(({ seq }) => seq);
  const upToEnd = async (): Promise<number[]> => endingWithCancel(await list());
  const cancel = () => engine.commands.cancel(caller, jobKey);
  return {
    streams,
    news,
    progress,
    jobId,
    itemIds,
    open,
    stir,
    all,
    upToEnd,
    cancel,
    errors,
    slow,
    submit,
    refusing,
  };
}

describe('a stream', () => {
  test('to a slow client uses little memory, and later misses nothing', async (t) => {
    const { jobId, open, stir, upToEnd, cancel, errors } = await setup(t);
    const quick = open({ jobId, after: 0 });
    quick.read();
    const slow = open({ jobId, after: 0 });
    for (let round = 0; round < 500; round += 1) await stir();
    assert.ok(slow.writableNeedDrain, 'the buffer of the slow client is full');
    assert.ok(slow.ids.length < 200, 'and it was not sent the rest');
    const ends = [once(quick, 'finish'), once(slow, 'finish')];
    await cancel();
    slow.read();
    await Promise.all(ends);
    const expected = await upToEnd();
    assert.equal(expected.length, 1002);
    assert.deepEqual(quick.ids, expected);
    // It was still reading when the item events followed.
    assert.deepEqual(slow.ids.slice(0, expected.length), expected);
    assert.ok(slow.mostWaiting < 64 * 1024, `${slow.mostWaiting} bytes waited`);
    assert.deepEqual(errors, []);
  });

  test('that starts during a job sends each event once', async (t) => {
    const { jobId, open, stir, upToEnd, cancel } = await setup(t);
    const connections: { connection: Connection; after: number }[] = [];
    for (let round = 0; round < 60; round += 1) {
      const after = round % 7;
      const connection = open({ jobId, after });
      connection.read();
      connections.push({ connection, after });
      await stir();
    }
    const ended = connections.map(({ connection }) => once(connection, 'finish'));
    await cancel();
    await Promise.all(ended);
    const expected = await upToEnd();
    for (const { connection, after } of connections) {
      assert.deepEqual(
        connection.ids,
        expected.filter((seq) => seq > after),
      );
    }
  });

  test('misses nothing if the store is down while it is open', async (t) => {
    const { open, stir, cancel, submit, refusing, errors, all, news } = await setup(t);
    const written = (await all()).at(-1);
    // An event that is published while the connection reads the log makes it read once more.
    while (news.position !== written) await new Promise(setImmediate);
    const connection = open({ after: 0 });
    connection.read();
    while (connection.ids.at(-1) !== written) await new Promise(setImmediate);
    refusing.refuse(2);
    // A job that was not seen before, so that its owner must be queried.
    await submit();
    await stir();
    await cancel();
    const last = (await all()).at(-1) ?? 0;
    while (connection.ids.at(-1) !== last) await new Promise(setImmediate);
    assert.deepEqual(
      connection.ids,
      Array.from({ length: last }, (_, at) => at + 1),
    );
    assert.equal(errors.length, 1);
  });

  test('does not repeat events that the client has already read', async (t) => {
    const { jobId, open, stir, all, upToEnd, cancel, slow } = await setup(t, { isBehind: true });
    slow.hold();
    for (let round = 0; round < 3; round += 1) await stir();
    const written = await all();
    // One client reads all events from the log; the other has already read all but the last.
    const [late, ahead] = [open({ jobId, after: 0 }), open({ jobId, after: written.at(-2) ?? 0 })];
    for (const connection of [late, ahead]) {
      connection.read();
      while (connection.ids.at(-1) !== written.at(-1)) await new Promise(setImmediate);
    }
    for (let turns = 0; turns < 10; turns += 1) await new Promise(setImmediate);
    const ends = [once(late, 'finish'), once(ahead, 'finish')];
    slow.letGo();
    await cancel();
    await Promise.all(ends);
    const expected = await upToEnd();
    assert.deepEqual(late.ids, expected);
    assert.deepEqual(ahead.ids, expected.slice(written.length - 1));
  });

  test('of a caller contains nothing of others', async (t) => {
    const { open, stir, cancel, streams, all } = await setup(t);
    const [own, others] = [open({ after: 0 }), open({ after: 0 }, 'somebody else')];
    own.read();
    others.read();
    await stir();
    await cancel();
    const expected = await all();
    while (own.ids.length < expected.length) await new Promise(setImmediate);
    streams.close();
    assert.deepEqual(own.ids, expected);
    assert.deepEqual(others.ids, []);
    assert.match(others.text, /retry: 1000\n\n$/);
  });

  test('sends progress within a step, without an event number', async (t) => {
    const { open, progress, jobId, itemIds, all, cancel } = await setup(t);
    const connection = open({ jobId, after: 0 });
    connection.read();
    while (connection.ids.length < (await all()).length) await new Promise(setImmediate);
    const detail = { done: 3, total: 12 };
    const itemId = itemIds[0] as number;
    progress.tell({ kind: 'step_progressed', jobId, itemId, step: 'embedded', detail });
    const end = once(connection, 'finish');
    await cancel();
    await end;
    const message = /event: progress\ndata: (.*)\n\n/.exec(connection.text)?.[1] ?? '{}';
    const { step, done, total } = JSON.parse(message);
    assert.deepEqual([step, done, total], ['embedded', 3, 12]);
  });
});
