/**
 * Submits, and says `ACK` in a file of its own as soon as each submission is acknowledged. It runs
 * under strace, which sees in which order that was written and the store was flushed.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { limits } from '../../src/kernel/limits.ts';
import { assemble } from '../../src/main.ts';
import { caller, corpus, textOf, uploadOf } from './workload.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '' },
    acks: { type: 'string', default: '' },
    jobs: { type: 'string', default: '100' },
    synchronous: { type: 'string', default: 'FULL' },
  },
});

/** The log is brought into the file early and often, so that the trace has that, too. */
const replacements = new Map([
  ['PRAGMA synchronous = FULL', `PRAGMA synchronous = ${values.synchronous}`],
  [`PRAGMA wal_autocheckpoint = ${limits.store.checkpointPages}`, 'PRAGMA wal_autocheckpoint = 50'],
]);
const execute = DatabaseSync.prototype.exec;
const replaced = new Set<string>();
DatabaseSync.prototype.exec = function (this: DatabaseSync, text: string): void {
  if (replacements.has(text)) replaced.add(text);
  execute.call(this, replacements.get(text) ?? text);
};

const { engine, blobs, close } = await assemble({ data: join(values.data, 'store') });
if (replaced.size < replacements.size) {
  throw new Error('the store no longer says how it flushes in the words that are replaced here');
}
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
  // As an upload is taken: its bytes are stored before the job that names them is accepted.
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
