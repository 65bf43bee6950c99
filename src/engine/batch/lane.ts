/**
 * The batch lane: lines of items are gathered into batch tasks, and when a task ends, each line is
 * handled separately. A failed line fails only its item. A line without a result (the task expired
 * or stopped half-way) is sent once more, in tasks of half the size. A request shared by several
 * documents is sent for one of them: the others wait until its response is stored, and use it.
 */
import { type BlobStore, putParts } from '../../blob/blob.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import {
  assignLines,
  dropKnown,
  dropUnwanted,
  type LineOutcome,
  type LineRow,
  linesOfGroup,
  linesOfTask,
  listKnown,
  listUnassigned,
  settleLines,
  type UnassignedGroup,
} from '../../store/batch/lines.ts';
import { insertBatchTask } from '../../store/batch/tasks.ts';
import { appendEvents } from '../../store/delivery/events.ts';
import type { Database, Transaction } from '../../store/driver/database.ts';
import { defaultModels } from './commands.ts';
import { type BatchProviders, servedByModels, transcription } from './plan.ts';
import type { EndedTask } from './submit.ts';
import { taskEvent } from './submit.ts';

export interface LaneOptions {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly world: World;
  readonly providers: BatchProviders;
  readonly gatherMs?: number | undefined;
}

/**
 * Creates tasks from lines that have waited long enough, or are numerous enough. Returns how many.
 */
export async function gatherLines(options: LaneOptions): Promise<number> {
  const { database, gatherMs = limits.batch.gatherMs } = options;
  const known = await listKnown(database);
  if (known.length > 0) {
    await database.write((transaction) => dropKnown(transaction, known, database.now()));
  }
  const groups = await listUnassigned(database, database.now());
  if (groups.length === 0) return 0;
  await database.write(dropUnwanted);
  let made = 0;
  for (const group of groups) {
    // A process with the provider's settings gathers them.
    const isServed = isSpoken(group)
      ? options.providers.names.includes(group.model)
      : options.providers.has(group.model, group.task_type);
    if (!isServed) continue;
    const isOld = database.now() - Number(group.oldest) >= gatherMs;
    if (!isOld && Number(group.count) < limits.batch.gatherMax) continue;
    if (await makeTask(group, options)) made += 1;
  }
  return made;
}

async function makeTask(group: UnassignedGroup, options: LaneOptions): Promise<boolean> {
  const { database, blobs, world } = options;
  const half = Math.ceil(Math.min(Number(group.count), limits.batch.gatherMax) / 2);
  const limit = group.attempt === 0 ? limits.batch.gatherMax : half;
  if (isSpoken(group)) return makeTranscriptions(group, options);
  const lines = await linesOfGroup(database, group, { limit, now: database.now() });
  if (lines.length === 0) return false;
  const key = await putParts(blobs, requestLines(lines));
  const input = {
    dataset_ids: [key],
    models: [group.model],
    requests_key: key,
    requests: lines.length,
  };
  const { caller, task_type: taskType } = group;
  return database.write(async (transaction) => {
    const now = database.now();
    const servedBy = servedByModels([group.model], taskType, options.providers);
    const task = { key: world.uuid(), caller, taskType, provider: null, servedBy, input, now };
    await insertTask(transaction, task, lines);
    return true;
  });
}

async function insertTask(
  transaction: Transaction,
  task: Parameters<typeof insertBatchTask>[1],
  lines: readonly LineRow[],
): Promise<void> {
  const taskId = await insertBatchTask(transaction, task);
  const ids = lines.map(({ id }) => id);
  const assigned = await assignLines(transaction, taskId, ids);
  // Another process has gathered some of them: this task is rolled back in favour of the other.
  if (assigned !== ids.length) throw new Error('lines were gathered twice at once');
}

/** One task for all, or one per recording, depending on how the provider starts jobs. */
async function makeTranscriptions(group: UnassignedGroup, options: LaneOptions): Promise<boolean> {
  const { database, world, providers } = options;
  const { model: provider, caller } = group;
  const limit = limits.batch.jobsPerTaskMax;
  const lines = await linesOfGroup(database, group, { limit, now: database.now() });
  if (lines.length === 0) return false;
  const transcriber = providers.byName(provider, transcription);
  const { split } = transcriber;
  const isApart = split === 'source' || split === 'source_and_model';
  const shares = isApart ? lines.map((line) => [line]) : [lines];
  return database.write(async (transaction) => {
    const now = database.now();
    for (const share of shares) {
      const urls = [...new Set(share.map(sourceOf))];
      const models = defaultModels(transcriber);
      const input = { dataset_ids: [], models, urls, invalid_urls: [] };
      const asked = { taskType: transcription, provider, servedBy: provider, input };
      const task = { key: world.uuid(), caller, ...asked, now };
      await insertTask(transaction, task, share);
    }
    return true;
  });
}

/** For recordings the model is the name of a provider. */
function isSpoken({ task_type: taskType }: Pick<UnassignedGroup, 'task_type'>): boolean {
  return taskType === transcription;
}

function sourceOf({ request }: LineRow): string {
  return String(JSON.parse(request).source);
}

async function* requestLines(lines: readonly LineRow[]): AsyncGenerator<Uint8Array, void> {
  for (const { id, request } of lines) {
    // The key is our own: the response is stored under it.
    const { key: _, ...asked } = JSON.parse(request);
    yield Buffer.from(`${JSON.stringify({ ...asked, custom_id: nameOf(id) })}\n`);
  }
}

function nameOf(lineId: number): string {
  return `line-${lineId}`;
}

/** Runs in the transaction that ends a task. */
export async function settleEnded(transaction: Transaction, ended: EndedTask): Promise<void> {
  const { row, results, blobKey, reason, now } = ended;
  const lines = await linesOfTask(transaction, row.id);
  if (lines.length === 0) return;
  const again: number[] = [];
  const outcomes: LineOutcome[] = [];
  for (const line of lines) {
    const { id, attempt } = line;
    const place = results.get(isSpoken(row) ? sourceOf(line) : nameOf(id));
    const mayComeBack = reason !== 'canceled' && (place === undefined || place.isRetryable);
    if (!place?.isOk && mayComeBack && attempt === 0) {
      again.push(id);
      continue;
    }
    const result =
      place && blobKey ? { key: blobKey, at: place.at, bytes: place.bytes } : undefined;
    const error = place?.isOk ? undefined : reason;
    outcomes.push({ id, status: place?.isOk ? 'ok' : 'failed', result, error });
  }
  await settleLines(transaction, { outcomes, again }, now);
  if (again.length === 0) return;
  const told = taskEvent('batch_lines_resubmitted', row, { lines: again.length, reason });
  await appendEvents(transaction, [told], now);
}
