/**
 * Submits, and says `ACK` in a file of its own as soon as each submission is acknowledged. It runs
 * under strace, which sees in which order that was written and the store was flushed.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { limits } from '../../src/kernel/limits.ts';
import { assemble } from '../../src/main.ts';
import { caller, corpus, textOf } from './workload.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '' },
    acks: { type: 'string', default: '' },
    jobs: { type: 'string', default: '100' },
    unflushed: { type: 'boolean', default: false },
  },
});

/** The log is brought into the file early and often, so that the trace has that, too. */
const seldom = `PRAGMA wal_autocheckpoint = ${limits.store.checkpointPages}`;
const execute = DatabaseSync.prototype.exec;
let isReplaced = false;
DatabaseSync.prototype.exec = function (this: DatabaseSync, text: string): void {
  isReplaced ||= text === seldom;
  execute.call(this, text === seldom ? 'PRAGMA wal_autocheckpoint = 50' : text);
};
let flushes = 0;
await replaceFlush();

const { engine, close } = await assemble({ data: join(values.data, 'store') });
if (!isReplaced) throw new Error('the store no longer says when it checkpoints in these words');
const acks = openSync(values.acks, 'w');
for (let version = 1; version <= Number(values.jobs); version += 2) {
  // Two at once: they may share a commit.
  await Promise.all([submit(version), submit(version + 1)]);
}
closeSync(acks);
await close();
if (flushes === 0) throw new Error('the store no longer flushes in the way that is watched here');

/** All open files are of one class, which Node hides. */
async function replaceFlush(): Promise<void> {
  const file = await open(fileURLToPath(import.meta.url));
  const prototype = Object.getPrototypeOf(file) as FileHandle;
  const flush = prototype.datasync;
  prototype.datasync = async function (this: FileHandle): Promise<void> {
    flushes++;
    if (!values.unflushed) await flush.call(this);
  };
  await file.close();
}

async function submit(version: number): Promise<void> {
  const body = textOf({ source: 1, version });
  const input = { kind: 'markdown' as const, title: null, body };
  const sources = [{ kind: 'inline' as const, source: 'source-1', input }];
  const { jobKey } = await engine.commands.submit({ caller, corpus, sources });
  writeSync(acks, `ACK ${jobKey} ${version}\n`);
}
