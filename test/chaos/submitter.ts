/**
 * A process that submits, and changes its mind: new versions of the same sources, cancels, pauses,
 * retries. It records its intentions and what was acknowledged. After a restart it continues from
 * its own list.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { assemble } from '../../src/app/wire.ts';
import { realWorld } from '../../src/app/world.ts';
import type { Commands } from '../../src/engine/command/commands.ts';
import { Failure } from '../../src/kernel/failure/failure.ts';
import { failpointHook } from '../../src/observe/failpoint-hook.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { listInbox } from '../../src/store/item/inbox.ts';
import type { NewSource } from '../../src/store/job/submit.ts';
import { chanceFrom } from './chance.ts';
import { report } from './program.ts';
import { type Entry, openLines, readLines } from './submission-log.ts';
import {
  blankSource,
  caller,
  corpus,
  fileOf,
  kindOf,
  type SourceVersion,
  sourceCount,
  textOf,
} from './workload.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '' },
    database: { type: 'string' },
    log: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
    /** Submits this many jobs and ends; without it, continues until it is stopped. */
    jobs: { type: 'string' },
    commandRate: { type: 'string', default: '0.04' },
    failpoint: { type: 'string' },
  },
});

const openItemsMax = 120;
const commandRate = Number(values.commandRate);
const open = sql<{ count: number }>`SELECT COUNT(*) AS count FROM items WHERE waits_on IS NOT NULL`;
const chance = chanceFrom(Number(values.seed));
const filesFolder = join(values.data, 'files');
const versions = new Map<number, number>();
for (const entry of readLines<Entry>(values.log)) {
  if (entry.kind !== 'intent') continue;
  for (const { source, version } of entry.contents) versions.set(source, version);
}
const log = openLines<Entry>(values.log);
const hook = values.failpoint === undefined ? undefined : failpointHook(values.failpoint);
const { engine, database, close } = await assemble({
  data: values.data,
  database: values.database,
  world: realWorld(hook),
});
mkdirSync(filesFolder, { recursive: true });
report({ kind: 'ready', at: Date.now() });

let isStopping = false;
process.once('SIGTERM', () => {
  isStopping = true;
});
const jobsMax = Number(values.jobs ?? Number.POSITIVE_INFINITY);
for (let job = 0; job < jobsMax && !isStopping; job++) {
  await submitOne(engine.commands);
  // Before a number of jobs, perhaps no worker runs that makes the open items fewer.
  while (!values.jobs && !isStopping && (await countOpen(database)) > openItemsMax) await pause(5);
  await pause(chance.next() * 6);
}
report({ kind: 'finished' });
await close();
process.exit(0);

async function submitOne(commands: Commands): Promise<void> {
  const contents = nextContents();
  log.append({ kind: 'intent', contents });
  const { jobKey, itemIds } = await commands.submit({
    caller,
    corpus,
    sources: contents.map(toSource),
  });
  log.append({ kind: 'accepted', jobKey, itemIds, contents });
  if (chance.hits(commandRate)) await changeMind(commands, jobKey);
  if (chance.hits(commandRate)) await emptyInbox(commands);
}

/** A few sources, none twice in one job, each at its next version. */
function nextContents(): SourceVersion[] {
  const picked = new Set(
    Array.from({ length: 1 + chance.below(4) }, () => chance.below(sourceCount)),
  );
  return [...picked].map((source) => {
    const version = (versions.get(source) ?? 0) + 1;
    versions.set(source, version);
    return { source, version };
  });
}

function toSource(content: SourceVersion): NewSource {
  const kind = kindOf(content.source);
  const name = `source-${content.source}`;
  if (kind === 'file') return { kind: 'file', source: writeSource(name, fileOf(content)) };
  const body = kind === 'blank' ? ' \n' : textOf(content);
  const input = { kind: 'markdown' as const, title: null, body };
  return { kind: 'inline', source: name, input, ...(kind === 'gated' && { gate: 'chaos.test' }) };
}

/** Written under another name first: readers see one complete version. */
function writeSource(name: string, text: string): string {
  const path = join(filesFolder, `${name}.md`);
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
  return path;
}

async function changeMind(commands: Commands, jobKey: string): Promise<void> {
  const isCancel = chance.hits(0.3);
  log.append({ kind: isCancel ? 'cancel' : 'pause', jobKey });
  await tolerate(async () => {
    if (isCancel) return void (await commands.cancel(caller, jobKey));
    await commands.pause(caller, jobKey);
    await commands.resume(caller, jobKey);
  });
}

/** Content failures are retried or discarded. Nothing else may be in the inbox. */
async function emptyInbox(commands: Commands): Promise<void> {
  for (const row of await listInbox(database, { caller, after: 0, limit: 20 })) {
    if (row.source !== blankSource) continue;
    const isAgain = chance.hits(0.3);
    await tolerate(() =>
      isAgain ? commands.retryItems(caller, [row.id]) : commands.discardItems(caller, [row.id]),
    );
  }
}

/** A job may end, and an item leave the inbox, before the command arrives. */
async function tolerate(command: () => Promise<unknown>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'action_not_allowed') throw error;
  }
}

async function countOpen(reader: Database): Promise<number> {
  const [row] = await reader.run(open);
  return row?.count ?? 0;
}
