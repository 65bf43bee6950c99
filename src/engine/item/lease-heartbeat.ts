/**
 * Maintains the leases of a worker. It sends heartbeats; stops work on items that were taken away
 * (canceled, paused, rescued); and returns stored leases without work in this process, because the
 * report that would have ended them failed with an unknown outcome.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { Database } from '../../store/driver/database.ts';
import { takeLeases } from '../../store/item/lost-leases.ts';
import { lockWorker, registerWorker, removeWorker } from '../../store/item/workers.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Ledger } from './ledger.ts';
import type { Liveness } from './liveness.ts';

export interface LeaseHeartbeatOptions {
  readonly worker: string;
  readonly database: Database;
  readonly ledger: Ledger;
  readonly dispatcher: Dispatcher;
  readonly liveness: Liveness;
  readonly world: World;
}

export class LeaseHeartbeat {
  readonly #options: LeaseHeartbeatOptions;
  #beatenAt = 0;
  #orphans: ReadonlyMap<number, number> = new Map();

  constructor(options: LeaseHeartbeatOptions) {
    this.#options = options;
  }

  async register(): Promise<void> {
    const { database, liveness, worker, world } = this.#options;
    await database.write((transaction) =>
      registerWorker(transaction, {
        id: worker,
        host: liveness.host,
        pid: liveness.pid,
        process_started: liveness.processStarted,
        beat_at: database.now(),
      }),
    );
    this.#beatenAt = world.now();
  }

  /** Leaves nothing behind that only a rescuer could find. */
  async unregister(): Promise<void> {
    const { database, worker } = this.#options;
    await database.write(async (transaction) => {
      await lockWorker(transaction, worker);
      await takeLeases(transaction, { worker, isDead: false });
      await removeWorker(transaction, worker);
    });
  }

  async beat(): Promise<void> {
    const { ledger, worker, dispatcher, world, database } = this.#options;
    try {
      await database.measureClock();
      if (!(await ledger.beat(worker, dispatcher.heldJobs()))) {
        // This worker was declared dead while it was away: it has lost all leases.
        dispatcher.abort(() => true, 'lost');
        await this.register();
      }
      this.#beatenAt = world.now();
    } catch (error) {
      // Stops before others may take the leases.
      const silentMs = world.now() - this.#beatenAt;
      if (silentMs > (limits.lease.ttlMs * 2) / 3) dispatcher.abort(() => true, 'lost');
      throw error;
    }
  }

  /** Compares the stored leases with the items in progress. */
  async compare(): Promise<void> {
    const { ledger, worker, dispatcher } = this.#options;
    const held = dispatcher.heldEpochs();
    const stored = await ledger.leases(worker);
    dispatcher.abort(
      // Only items held before the query: they may have been claimed again meanwhile.
      (itemId, { epoch }) => held.get(itemId) === epoch && stored.get(itemId) !== epoch,
      'lost',
    );
    const heldNow = dispatcher.heldEpochs();
    const orphans = new Map([...stored].filter(([id, epoch]) => heldNow.get(id) !== epoch));
    // Seen twice in a row: a claim whose response is on its way looks the same for a moment.
    const lasting = [...orphans].filter(([id, epoch]) => this.#orphans.get(id) === epoch);
    this.#orphans = orphans;
    if (lasting.length === 0) return;
    await ledger.handBack(lasting.map(([id, epoch]) => ({ id, epoch })));
  }
}
