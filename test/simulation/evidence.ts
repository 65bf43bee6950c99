/** Everything that the store holds after a run, read once for the invariants. */

import type { Event } from '../../src/observe/event.ts';
import { listEvents } from '../../src/store/delivery/events.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { sql } from '../../src/store/driver/statement.ts';
import type { ItemRow } from '../../src/store/item/items.ts';
import type { JobRow } from '../../src/store/job/jobs.ts';
import type { WatchedLine } from './paid.ts';
import type { Acknowledged } from './recorder.ts';

export type StoredItem = ItemRow & { readonly gate_held: number };

export interface MoveRow {
  readonly item_id: number;
  readonly old_epoch: number;
  readonly new_epoch: number;
  readonly old_progress: number;
  readonly new_progress: number;
  readonly at_gate: number;
}

export interface DocumentState {
  readonly id: string;
  readonly generation_id: number;
}

export interface InputState {
  readonly item_id: number;
  readonly title: string | null;
  readonly body: string;
}

export interface Evidence {
  readonly items: readonly StoredItem[];
  readonly jobs: readonly JobRow[];
  readonly events: readonly Event[];
  readonly moves: readonly MoveRow[];
  readonly lines: readonly WatchedLine[];
  readonly documents: readonly DocumentState[];
  readonly inputs: readonly InputState[];
  /** Tables in which a generation has rows. */
  readonly parts: readonly { readonly part: string; readonly generation_id: number | null }[];
  readonly sequence: number;
  readonly acknowledged: readonly Acknowledged[];
  readonly touchedJobs: ReadonlySet<string>;
  readonly deletedDocuments: ReadonlySet<string>;
}

export const allItems = sql<StoredItem>`SELECT * FROM items ORDER BY id`;
export const allJobs = sql<JobRow>`SELECT * FROM jobs ORDER BY id`;
const allMoves = sql<MoveRow>`SELECT * FROM watched_moves ORDER BY id`;
const allLines = sql<WatchedLine>`SELECT * FROM watched_lines ORDER BY id`;
const allDocuments = sql<DocumentState>`SELECT id, generation_id FROM documents ORDER BY id`;
const allInputs = sql<InputState>`SELECT item_id, title, body FROM inputs ORDER BY item_id`;
const lastSequence = sql<{ value: number }>`SELECT value FROM sequence WHERE name = 'events'`;
const allParts = sql<{ part: string; generation_id: number | null }>`
  SELECT DISTINCT 'text' AS part, generation_id FROM texts
  UNION ALL SELECT DISTINCT 'chunk', generation_id FROM chunks
  UNION ALL SELECT DISTINCT 'vector', generation_id FROM vectors
  UNION ALL SELECT DISTINCT 'entity', generation_id FROM entities
  UNION ALL SELECT DISTINCT 'search row', chunks.generation_id
    FROM chunk_search LEFT JOIN chunks ON chunks.id = chunk_search.rowid`;

const eventsMax = 1_000_000;

export async function readEvidence(
  store: Database,
  told: Pick<Evidence, 'acknowledged' | 'touchedJobs' | 'deletedDocuments'>,
): Promise<Evidence> {
  return {
    items: await store.run(allItems),
    jobs: await store.run(allJobs),
    events: await listEvents(store, { after: 0, limit: eventsMax }),
    moves: await store.run(allMoves),
    lines: await store.run(allLines),
    documents: await store.run(allDocuments),
    inputs: await store.run(allInputs),
    parts: await store.run(allParts),
    sequence: (await store.run(lastSequence))[0]?.value ?? 0,
    acknowledged: told.acknowledged,
    touchedJobs: told.touchedJobs,
    deletedDocuments: told.deletedDocuments,
  };
}
