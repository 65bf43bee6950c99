/** Active workers, and the rate limits of domains: for status pages. */
import type { Reader } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';
import { listLeases } from '../item/items.ts';
import { countLineBefore } from '../item/places.ts';
import { claimedItems } from '../item/queues.ts';
import { listWorkers } from '../item/workers.ts';

export interface WorkerStanding {
  readonly worker: string;
  readonly beatAt: number;
  /** Items leased by it. */
  readonly items: number;
}

export async function listWorkerStandings(reader: Reader): Promise<WorkerStanding[]> {
  const standings: WorkerStanding[] = [];
  for (const { id: worker, beat_at: beatAt } of await listWorkers(reader)) {
    const ids = await claimedItems(reader, worker);
    const leases = ids.length === 0 ? [] : await listLeases(reader, worker, ids);
    standings.push({ worker, beatAt, items: leases.length });
  }
  return standings.sort((a, b) => b.items - a.items || a.worker.localeCompare(b.worker));
}

export interface DomainStanding {
  readonly domain: string;
  readonly concurrency: number;
  readonly intervalMs: number;
  readonly nextAt: number;
  /** Items of this caller that hold a slot at the gate. */
  readonly held: number;
  /** Items of all callers that wait at the gate; counted up to a limit. */
  readonly waiting: number;
}

interface DomainRow {
  readonly name: string;
  readonly concurrency: number;
  readonly interval_ms: number;
  readonly next_at: number;
  readonly held: number;
}

const domains = sql<DomainRow>`
  SELECT gates.name, gates.concurrency, gates.interval_ms, gates.next_at, COUNT(*) AS held
  FROM items JOIN gates ON gates.name = items.gate
  WHERE items.gate_held = 1 AND items.caller = :caller
  GROUP BY gates.name, gates.concurrency, gates.interval_ms, gates.next_at
  ORDER BY held DESC, gates.name LIMIT :limit`;

const waitingMax = 10_000;

/** The domains that the caller reads from now: domains of other callers are private. */
export async function listDomainStandings(
  reader: Reader,
  asked: { readonly caller: string; readonly limit: number },
): Promise<DomainStanding[]> {
  const standings: DomainStanding[] = [];
  for (const row of await reader.run(domains, { ...asked })) {
    const everyone = { gate: row.name, rank: Number.MAX_SAFE_INTEGER, limit: waitingMax };
    standings.push({
      domain: row.name,
      concurrency: row.concurrency,
      intervalMs: row.interval_ms,
      nextAt: row.next_at,
      held: row.held,
      waiting: await countLineBefore(reader, everyone),
    });
  }
  return standings;
}
