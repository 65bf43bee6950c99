/** What the store saw of the lines of the batch lane, and their invariants. */
import type { Evidence } from './evidence.ts';

/**
 * `ok`, `failed`: the result. `taken`: its response was stored. `dropped`: removed without a
 * response.
 */
export interface WatchedLine {
  readonly line_id: number;
  readonly item_id: number;
  readonly step: string;
  readonly key: string;
  readonly told: 'asked' | 'ok' | 'failed' | 'taken' | 'dropped';
  /** A provider had it. */
  readonly is_sent: number;
}

export const watchLineStatements = [
  `CREATE TABLE watched_lines (
    id INTEGER PRIMARY KEY, line_id INTEGER NOT NULL, item_id INTEGER NOT NULL, step TEXT NOT NULL,
    key TEXT NOT NULL, told TEXT NOT NULL, is_sent INTEGER NOT NULL)`,
  trigger('watch_asked', 'INSERT', { row: 'NEW', told: "'asked'" }),
  trigger('watch_answered', 'UPDATE OF status', { row: 'NEW', told: 'NEW.status' }),
  trigger('watch_gone', 'DELETE', {
    row: 'OLD',
    told: "CASE OLD.status WHEN 'ok' THEN 'taken' ELSE 'dropped' END",
  }),
];

function trigger(name: string, event: string, { row, told }: { row: string; told: string }) {
  return `CREATE TRIGGER ${name} AFTER ${event} ON batch_lines BEGIN
    INSERT INTO watched_lines (line_id, item_id, step, key, told, is_sent)
    VALUES (${row}.id, ${row}.item_id, ${row}.step, json_extract(${row}.request, '$.key'), ${told},
      ${row}.task_id IS NOT NULL);
  END`;
}

/** A document repeats a request only if it was refused, or had not been sent. */
export function nothingIsPaidTwice({ lines }: Evidence): string[] {
  const last = new Map<string, WatchedLine>();
  return lines.flatMap((line) => {
    const request = `${line.item_id} ${line.step} ${line.key}`;
    const before = last.get(request);
    last.set(request, line);
    if (line.told !== 'asked' || !before) return [];
    // Failed lines are removed with the failure, unsent ones with the cancel.
    if (before.told === 'dropped' && (before.is_sent === 0 || isRefused(lines, before))) return [];
    return [`item ${line.item_id} asks again what was ${before.told}, line ${before.line_id}`];
  });
}

function isRefused(lines: readonly WatchedLine[], { line_id }: WatchedLine): boolean {
  return lines.some((line) => line.line_id === line_id && line.told === 'failed');
}

/** Each response that was taken costs one token, charged to the item that sent the request. */
export function everyAnswerIsChargedOnce({ items, jobs, lines }: Evidence): string[] {
  const cheap = new Set(jobs.filter(({ lane }) => lane === 'cheap').map(({ id }) => id));
  const taken = Map.groupBy(
    lines.filter(({ told }) => told === 'taken'),
    ({ item_id }) => item_id,
  );
  return items.flatMap(({ id, job_id, tokens_in }) => {
    const count = taken.get(id)?.length ?? 0;
    if (!cheap.has(job_id) || tokens_in === count) return [];
    return [`item ${id} was charged ${tokens_in} tokens for ${count} answers`];
  });
}

/** A done item has taken all its responses. */
export function noLineOutlivesItsItem({ items, lines }: Evidence): string[] {
  const left = new Map<number, number>();
  for (const { line_id, item_id, told } of lines) {
    if (told === 'taken' || told === 'dropped') left.delete(line_id);
    else left.set(line_id, item_id);
  }
  const waiting = new Set(left.values());
  return items
    .filter(({ id, step }) => step === 'done' && waiting.has(id))
    .map(({ id }) => `item ${id} is done, and a line of it is still there`);
}
