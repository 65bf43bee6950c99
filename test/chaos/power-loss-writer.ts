/**
 * Submits, and writes `ACK` to its own file as soon as each submission is acknowledged. It runs
 * under strace, which records the order of these writes and the flushes of the store.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { assemble } from '../../src/app/wire.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import { caller, corpus, textOf, uploadOf } from './workload.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '' },
    acks: { type: 'string', default: '' },
    jobs: { type: 'string', default: '100' },
  },
});

/** Checkpoints are early and frequent, so that the trace contains them. */
const seldom = `PRAGMA wal_autocheckpoint = ${limits.store.checkpointPages}`;
const execute = DatabaseSync.prototype.exec;
let isReplaced = false;
DatabaseSync.prototype.exec = function (this: DatabaseSync, text: string): void {
  isReplaced ||= text === seldom;
  execute.call(this, text === seldom ? 'PRAGMA wal_autocheckpoint = 50' : text);
};

const { engine, blobs, close } = await assemble({ data: join(values.data, 'store') });
if (!isReplaced) throw new Error('the checkpoint statement of the store has changed');
const acks = openSync(values.acks, 'w');
for (let version = 1; version <= Number(values.jobs); version += 2) {
  // Two at once: they may share a commit.
  await Promise.all([submit(version), submit(version + 1)]);
}
closeSync(acks);
await close();
async function submit(version: number): Promise<void> {
  const body = textOf({ source: 1, version });
  const input = { kind: 'markdown' as const, title: null, body };
  // Like an upload: its bytes are stored before the job that names them is accepted.
  const bytes = Buffer.from(uploadOf(version));
  const key =
    version % 2 === 0
      ? await blobs.put(bytes)
      : (await blobs.putStream(Readable.from([bytes]))).key;
  const upload = { kind: 'blob' as const, title: 'upload.txt', body: key };
  const sources = [
    { kind: 'inline' as const, source: 'source-1', input },
    { kind: 'upload' as const, source: 'upload:upload.txt', input: upload },
  ];
  const { jobKey } = await engine.commands.submit({ caller, corpus, sources });
  writeSync(acks, `ACK ${jobKey} ${version}\n`);
}
