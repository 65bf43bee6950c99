/**
 * The store of the simulated world: the real one, in memory, opened once and emptied for each run.
 * Triggers record each move of an item, as the database saw it, for the invariants.
 */
import { item } from '../../src/kernel/lifecycle/item.ts';
import type { World } from '../../src/kernel/world.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { migrate } from '../../src/store/driver/migrate.ts';
import { openSqlite } from '../../src/store/driver/sqlite.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { watchLineStatements } from './paid.ts';
import { nobody, type Schedule } from './schedule.ts';

export interface SimulatedStore {
  readonly database: Database;
  /** Empties the store, and lets the given schedule drive it. */
  reset(schedule: Schedule): Promise<void>;
}

const watchStatements = [
  `CREATE TABLE watched_moves (
    id INTEGER PRIMARY KEY, item_id INTEGER NOT NULL, old_epoch INTEGER NOT NULL,
    new_epoch INTEGER NOT NULL, old_progress INTEGER NOT NULL, new_progress INTEGER NOT NULL,
    old_waits TEXT, new_waits TEXT, worker TEXT, at_gate INTEGER NOT NULL)`,
  'CREATE INDEX watched_moves_item ON watched_moves (item_id, id)',
  `CREATE TRIGGER watch_moves AFTER UPDATE OF step, progress, waits_on, epoch ON items BEGIN
    INSERT INTO watched_moves (item_id, old_epoch, new_epoch, old_progress, new_progress, old_waits,
      new_waits, worker, at_gate)
    VALUES (NEW.id, OLD.epoch, NEW.epoch, OLD.progress, NEW.progress, OLD.waits_on, NEW.waits_on,
      NEW.worker, CASE WHEN NEW.waits_on = 'worker' AND NEW.gate IS NOT NULL THEN (
        SELECT COUNT(*) FROM items WHERE gate = NEW.gate AND waits_on = 'worker'
          AND (progress & ${item.bit('fetched')}) = 0) ELSE 0 END);
  END`,
  ...watchLineStatements,
];

const listTables = sql<{ name: string }>`
  SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
    AND name NOT LIKE 'chunk_search_%' AND name NOT IN ('migrations', 'sequence')`;
const restartSequence = sql`UPDATE sequence SET value = 0`;

export async function openStore(): Promise<SimulatedStore> {
  let schedule: Schedule | undefined;
  const world: World = {
    now: () => schedule?.now ?? 0,
    setTimer: () => () => undefined,
    afterTurn: (run) => {
      if (schedule) schedule.push(nobody, 0, run);
      else setImmediate(run);
    },
    random: () => 0,
    uuid: () => '',
  };
  const database = openSqlite({ path: ':memory:', world });
  await migrate(database, item);
  const tables = await database.run(listTables);
  await database.write(async (transaction) => {
    for (const text of watchStatements) await transaction.run({ text });
  });
  const emptyTables = [...tables.map(({ name }) => name), 'watched_moves', 'watched_lines'].map(
    (name) => sql`DELETE FROM ${name}`,
  );
  return {
    database,
    reset: async (next) => {
      schedule = undefined;
      await database.write(async (transaction) => {
        for (const statement of emptyTables) await transaction.run(statement);
        await transaction.run(restartSequence);
      });
      schedule = next;
    },
  };
}
