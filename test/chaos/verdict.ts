import type { Database } from '../../src/store/driver/database.ts';
import { type PackedText, unpackText } from '../../src/store/driver/packing.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { countWithoutCause } from '../../src/store/item/items.ts';
import { judgeDocuments } from './document-verdict.ts';
import { callsPaidTwice, type DiaryLine, type PaidCall } from './paid-twice.ts';
import type { Entry } from './submission-log.ts';
import { blankSource, kindOf, textOf } from './workload.ts';

export const faults = [
  'lost',
  'duplicated',
  'stuck',
  'paid twice',
  'blamed',
  'mixed',
  'without cause',
  'miscounted',
] as const;

export type Fault = (typeof faults)[number];

export interface Finding {
  readonly fault: Fault;
  readonly what: string;
}

export interface Evidence {
  readonly database: Database;
  readonly entries: readonly Entry[];
  readonly calls: readonly PaidCall[];
  readonly diary: readonly DiaryLine[];
}

export type Accepted = Entry & { readonly kind: 'accepted' };

export async function judge(evidence: Evidence): Promise<Finding[]> {
  return [
    ...(await judgeJobs(evidence)),
    ...(await judgeRest(evidence.database)),
    ...(await judgeInbox(evidence.database)),
    ...(await judgeHistory(evidence.database)),
    ...(await judgeDocuments(evidence)),
    ...judgeCalls(evidence),
  ];
}

export function acceptedOf(entries: readonly Entry[]): Accepted[] {
  return entries.filter((entry) => entry.kind === 'accepted');
}

const itemsOfJob = sql<{ id: number; step: string; kind: string | null } & PackedText>`
  SELECT items.id, items.step, inputs.kind, inputs.body, inputs.packed
  FROM jobs JOIN items ON items.job_id = jobs.id
  LEFT JOIN inputs ON inputs.item_id = items.id WHERE jobs.key = :key ORDER BY items.id`;

/** Everything that was acknowledged is stored, with its original bytes. */
async function judgeJobs({ database, entries }: Evidence): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { jobKey, itemIds, contents } of acceptedOf(entries)) {
    const rows = await database.run(itemsOfJob, { key: jobKey });
    contents.forEach((content, index) => {
      const row = rows.find(({ id }) => id === itemIds[index]);
      const kind = kindOf(content.source);
      // The input of a done item is removed once its document is replaced.
      const isForgotten = row?.step === 'done' && row.kind === null;
      const isKept = isForgotten || (row && unpackText(row) === textOf(content));
      const isWhole = kind === 'file' || kind === 'blank' || isKept;
      if (row && isWhole) return;
      const missing = row ? 'the text' : 'the item';
      findings.push({
        fault: 'lost',
        what: `${missing} of source ${content.source}, version ${content.version}, job ${jobKey}`,
      });
    });
    if (rows.length > itemIds.length) {
      findings.push({ fault: 'duplicated', what: `${rows.length} items in job ${jobKey}` });
    }
  }
  return findings;
}

const openItems = sql<{ id: number; step: string; waits_on: string; worker: string | null }>`
  SELECT id, step, waits_on, worker FROM items WHERE waits_on IS NOT NULL ORDER BY id`;
const openJobs = sql<{ key: string; state: string }>`
  SELECT key, state FROM jobs WHERE state NOT IN ('succeeded', 'failed', 'canceled')`;
const wrongCounts = sql<{ key: string; counted: string }>`
  SELECT jobs.key, jobs.items_done || '/' || jobs.items_failed || '/' || jobs.items_canceled || '/'
      || jobs.items_waiting AS counted
  FROM jobs JOIN (
    SELECT job_id, COUNT(*) AS total, SUM(CASE WHEN step = 'done' THEN 1 ELSE 0 END) AS done,
      SUM(CASE WHEN step = 'failed' THEN 1 ELSE 0 END) AS failed,
      SUM(CASE WHEN step = 'canceled' THEN 1 ELSE 0 END) AS canceled
    FROM items GROUP BY job_id) AS counts ON counts.job_id = jobs.id
  WHERE jobs.items_total <> total OR jobs.items_done <> done OR jobs.items_failed <> failed
    OR jobs.items_canceled <> canceled OR jobs.items_waiting <> 0`;

/** Everything has ended, and is counted correctly. */
async function judgeRest(database: Database): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { id, step, waits_on, worker } of await database.run(openItems)) {
    findings.push({ fault: 'stuck', what: `item ${id} at ${step} waits on ${waits_on} ${worker}` });
  }
  for (const { key, state } of await database.run(openJobs)) {
    findings.push({ fault: 'stuck', what: `job ${key} is ${state}` });
  }
  for (const { key, counted } of await database.run(wrongCounts)) {
    const what = `job ${key} counts ${counted} done, failed, canceled, waiting`;
    findings.push({ fault: 'miscounted', what });
  }
  const without = await countWithoutCause(database);
  if (without > 0) findings.push({ fault: 'without cause', what: `${without} items` });
  return findings;
}

const failedItems = sql<{ id: number; source: string; code: string; message: string }>`
  SELECT id, source, error ->> 'code' AS code, error ->> 'message' AS message
  FROM items WHERE step = 'failed' AND source <> :blank ORDER BY id`;

/** Only the blank document has a reason to fail: kills must not fail any other. */
async function judgeInbox(database: Database): Promise<Finding[]> {
  const rows = await database.run(failedItems, { blank: blankSource });
  return rows.map(({ id, source, code, message }) => ({
    fault: 'blamed',
    what: `item ${id}, ${source}: ${code}, ${message}`,
  }));
}

const twiceCompleted = sql<{ item_id: number; step: string; count: number }>`
  SELECT item_id, step, COUNT(*) AS count FROM events WHERE kind = 'step_completed'
  GROUP BY item_id, step HAVING COUNT(*) > 1`;
const twiceSubmitted = sql<{ source: string; count: number }>`
  SELECT MIN(items.source) AS source, COUNT(*) AS count FROM inputs
  JOIN items ON items.id = inputs.item_id WHERE items.source <> '${blankSource}'
  GROUP BY inputs.body, inputs.packed HAVING COUNT(*) > 1`;
const sequence = sql<{ value: number; count: number; last: number }>`
  SELECT value, (SELECT COUNT(*) FROM events) AS count, (SELECT MAX(seq) FROM events) AS last
  FROM sequence WHERE name = 'events'`;

/**
 * Every step was committed once, every submission was accepted once, and the history has no gap.
 */
async function judgeHistory(database: Database): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { item_id, step, count } of await database.run(twiceCompleted)) {
    findings.push({ fault: 'duplicated', what: `item ${item_id} reached ${step} ${count} times` });
  }
  for (const { source, count } of await database.run(twiceSubmitted)) {
    findings.push({ fault: 'duplicated', what: `a text of ${source} was taken ${count} times` });
  }
  const [row] = await database.run(sequence);
  if (row && (row.value !== row.count || row.value !== (row.last ?? 0))) {
    const what = `${row.count} events up to ${row.last}, and the counter says ${row.value}`;
    findings.push({ fault: 'miscounted', what });
  }
  return findings;
}

function judgeCalls({ calls, diary }: Evidence): Finding[] {
  return callsPaidTwice(calls, diary).map(({ pid, step, texts, kept }) => ({
    fault: 'paid twice',
    what: `${kept.length} of ${texts} texts of process ${pid} at ${step}`,
  }));
}
