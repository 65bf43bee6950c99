/** How a batch task is shown, by `--json` and over HTTP. */
import { batchTask } from './kernel/batch-task.ts';
import { allowedActions } from './kernel/machine.ts';
import type { BatchTaskRow } from './store/batch-tasks.ts';

const time = (at: number | null): string | null =>
  at === null ? null : new Date(at).toISOString();

const json = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

export function batchTaskShape(row: BatchTaskRow) {
  return {
    task_id: row.key,
    task_type: row.task_type,
    provider: row.provider,
    status: row.state.toUpperCase(),
    state: row.state,
    provider_state: json(row.provider_state),
    output: row.output_key === null ? null : `blob:${row.output_key}`,
    error: json(row.error),
    results_ok: row.results_ok,
    results_failed: row.results_failed,
    tokens: { in: row.tokens_in, out: row.tokens_out },
    poll_errors: row.poll_errors,
    next_at: row.ended_at === null ? time(row.next_at) : null,
    actions: allowedActions(batchTask, row.state),
    created_at: time(row.created_at),
    submitted_at: time(row.submitted_at),
    ended_at: time(row.ended_at),
  };
}
