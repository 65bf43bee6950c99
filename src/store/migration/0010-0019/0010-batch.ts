/** Batch tasks, and the work of items that waits for one. */
import { batchTask } from '../../../kernel/lifecycle/batch-task.ts';
import { sqlCheck } from '../../../kernel/lifecycle/machine.ts';
import type { Migration } from '../../driver/migrate.ts';

export const batching: Migration = {
  version: 10,
  name: 'batch',
  statements: () => [
    `CREATE TABLE batch_tasks (
      id {id},
      key TEXT NOT NULL UNIQUE,
      caller TEXT NOT NULL,
      task_type TEXT NOT NULL,
      provider TEXT,
      state TEXT NOT NULL ${sqlCheck(batchTask, 'state')},
      input {json} NOT NULL,
      submission {json} NOT NULL,
      provider_state {json},
      output_key TEXT,
      error {json},
      epoch {int} NOT NULL DEFAULT 0,
      attempt {int} NOT NULL DEFAULT 0,
      next_at {int} NOT NULL,
      poll_errors {int} NOT NULL DEFAULT 0,
      is_cancel_due {int} NOT NULL DEFAULT 0,
      results_ok {int} NOT NULL DEFAULT 0,
      results_failed {int} NOT NULL DEFAULT 0,
      tokens_in {int} NOT NULL DEFAULT 0,
      tokens_out {int} NOT NULL DEFAULT 0,
      created_at {int} NOT NULL,
      updated_at {int} NOT NULL,
      submitted_at {int},
      ended_at {int}
    )`,
    `CREATE INDEX batch_tasks_due ON batch_tasks (state, next_at)
      WHERE state IN ('pending', 'in_progress')`,
    'CREATE INDEX batch_tasks_cancel ON batch_tasks (next_at) WHERE is_cancel_due = 1',
    'CREATE INDEX batch_tasks_caller ON batch_tasks (caller, id)',
    "ALTER TABLE jobs ADD COLUMN lane TEXT NOT NULL DEFAULT 'now'",
    // What a step asked for and has no answer to yet; and the answers, until the step has clicked.
    `CREATE TABLE batch_lines (
      id {id},
      item_id {int} NOT NULL,
      caller TEXT NOT NULL,
      step TEXT NOT NULL,
      ordinal {int} NOT NULL,
      task_type TEXT NOT NULL,
      model TEXT NOT NULL,
      request {json} NOT NULL,
      task_id {int},
      attempt {int} NOT NULL DEFAULT 0,
      status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'ok', 'failed')),
      result_key TEXT,
      result_at {int},
      result_bytes {int},
      error TEXT,
      created_at {int} NOT NULL
    )`,
    'CREATE INDEX batch_lines_item ON batch_lines (item_id, step, ordinal)',
    'CREATE INDEX batch_lines_task ON batch_lines (task_id)',
    `CREATE INDEX batch_lines_loose ON batch_lines (task_type, model, caller, attempt, id)
      WHERE task_id IS NULL AND status = 'open'`,
  ],
  sqlite: [],
  postgres: [],
};
