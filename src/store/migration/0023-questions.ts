/** A question of the cheap lane is known by its key, and an answer by the item it came for. */
import type { Migration } from '../migrate.ts';

export const questions: Migration = {
  version: 23,
  name: 'questions',
  statements: () => [
    'ALTER TABLE batch_lines ADD COLUMN key TEXT',
    "UPDATE batch_lines SET key = request ->> 'key'",
    'CREATE INDEX batch_lines_key ON batch_lines (key, id) WHERE key IS NOT NULL',
    "CREATE INDEX batch_lines_answered ON batch_lines (item_id) WHERE status = 'ok'",
  ],
  sqlite: [],
  postgres: [],
};
