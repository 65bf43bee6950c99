/**
 * A consumer in its own process, which reports on its output what happens, and reads from its input
 * when to finish, or to keep its only thread busy.
 */
import { createInterface } from 'node:readline';
import { realWorld } from '../../src/app/world.ts';
import type { Failure } from '../../src/kernel/failure/failure.ts';
import { makeLog } from '../../src/observe/log.ts';
import { openBullQueue } from '../../src/queue/bullmq.ts';
import type { QueueTimes } from '../../src/queue/queue.ts';

interface Settings {
  readonly url: string;
  readonly name: string;
  readonly times: QueueTimes;
}

const settings = JSON.parse(process.argv[2] ?? '') as Settings;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const finished = Promise.withResolvers<void>();

const queue = await openBullQueue({
  ...settings,
  world: realWorld(),
  log: makeLog('debug', (line) => say(`log ${line}`)),
});
await queue.consume({
  places: 1,
  onError: (what, error) => say(`error ${what} ${String(error)}`),
  run: async ({ message, attempt, signal }) => {
    say(`took ${message.id} ${attempt}`);
    signal.addEventListener('abort', () => say(`aborted ${(signal.reason as Failure).code}`));
    await finished.promise;
    say(`finishes ${message.id}`);
    return { do: 'finish' };
  },
});
say('ready');

/** Blocks the thread without using CPU time. */
const blockFor = (durationMs: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const [word, argument] = line.split(' ');
  if (word === 'finish') finished.resolve();
  if (word !== 'block') return;
  blockFor(Number(argument));
  say('blocked');
});
