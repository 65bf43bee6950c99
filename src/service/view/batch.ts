/** A batch task in the schema of the API and of `--json`. */

import type { BatchTask } from '../../contract/operation/batch.ts';
import type { Waiting } from '../../engine/batch/waiting.ts';
import { type BatchTaskState, batchTask } from '../../kernel/lifecycle/batch-task.ts';
import { allowedActions } from '../../kernel/lifecycle/machine.ts';
import type { ProviderState } from '../../kernel/provider-state.ts';
import type { BatchTaskRow } from '../../store/batch/tasks.ts';
import { batchCost } from './batch-cost.ts';

export function batchTaskShape(row: BatchTaskRow, waiting: Waiting): BatchTask {
  const state = json<ProviderState>(row.provider_state);
  return {
    task_id: row.key,
    task_type: row.task_type,
    provider: row.provider,
    status: row.state.toUpperCase() as Uppercase<BatchTaskState>,
    state: row.state,
    provider_state: state && { ...state },
    invalid_urls: json<{ invalid_urls?: string[] }>(row.input)?.invalid_urls ?? [],
    output: row.output_key === null ? null : `blob:${row.output_key}`,
    error: json(row.error),
    waiting: waiting(row),
    results_ok: row.results_ok,
    results_failed: row.results_failed,
    tokens: { in: row.tokens_in, out: row.tokens_out },
    cost: batchCost(row, state),
    poll_errors: row.poll_errors,
    next_at: row.ended_at === null ? time(row.next_at) : null,
    actions: [...allowedActions(batchTask, row.state)],
    created_at: new Date(row.created_at).toISOString(),
    submitted_at: time(row.submitted_at),
    ended_at: time(row.ended_at),
  };
}

function time(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

function json<Shape = Record<string, unknown>>(text: string | null): Shape | null {
  return text === null ? null : JSON.parse(text);
}
