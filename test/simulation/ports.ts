/**
 * The ports of one simulated process, with every fault between it and the store. Every response
 * passes the process's own gate: after its death none does.
 */
import type { Ledger } from '../../src/engine/item/ledger.ts';
import { Failure } from '../../src/kernel/failure/failure.ts';
import type { Database, Transaction } from '../../src/store/driver/database.ts';
import { sql } from '../../src/store/driver/statement.ts';
import type { ClaimedRow } from '../../src/store/item/moves.ts';
import type { Report, Verdict } from '../../src/store/item/reports.ts';
import type { SimulatedProcess } from './process.ts';

const slowMsMax = 5_000;
const lateReportMsMax = 150_000;

/**
 * Thrown in a transaction whose process has died: it is rolled back, and the error is not observed.
 */
class Crashed extends Error {}

export function gatedDatabase(process: SimulatedProcess, inner: Database): Database {
  const { faults, random } = process.setting;
  const write = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> => {
    if (faults.happens('crash_before_write')) process.crash('before a write');
    if (process.isDead) return never();
    if (faults.happens('write_failed')) return process.answer(Promise.reject(storeError(random)));
    const isDelayed = faults.happens('write_slow');
    const executed = process.after(isDelayed ? random.whole(1, slowMsMax) : 0, () =>
      inner.write(async (transaction) => {
        if (process.isDead) throw new Crashed();
        const value = await work(transaction);
        if (process.isDead) throw new Crashed();
        return value;
      }),
    );
    if (faults.happens('crash_after_write')) {
      const crash = (): void => process.crash('after a write');
      return executed.then(crash, crash).then(never<T>);
    }
    if (!faults.happens('write_committed_then_timeout')) return process.answer(executed);
    return process.answer(executed.then(() => Promise.reject(storeError(random))));
  };
  return {
    dialect: inner.dialect,
    commitsMax: process.commitsMax,
    write,
    run: (statement, parameters) => {
      if (faults.happens('crash_during_read')) process.crash('during a read');
      if (process.isDead) return never();
      if (faults.happens('read_failed')) return process.answer(Promise.reject(storeError(random)));
      return process.answer(inner.run(statement, parameters));
    },
    get early() {
      return this;
    },
    flushed: async () => undefined,
    now: () => process.now(),
    measureClock: async () => undefined,
    close: async () => undefined,
  };
}

export function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}

function storeError(random: { chance(probability: number): boolean }): Error {
  if (random.chance(0.3)) return new Failure('store_busy', 'the store is busy');
  return Object.assign(new Error('the store did not answer in time'), { code: 'ETIMEDOUT' });
}

/** The ledger as reached over a network: requests and responses are lost, late or duplicated. */
export function gatedLedger(process: SimulatedProcess, own: Ledger): Ledger {
  const { faults, random } = process.setting;
  const lost = <T>(): Promise<T> =>
    process.answer(Promise.reject(Object.assign(new Error('no answer'), { code: 'ECONNRESET' })));
  const claimed = (what: string, rows: ClaimedRow[]): ClaimedRow[] | Promise<ClaimedRow[]> => {
    if (faults.happens('claim_answer_lost')) return lost();
    for (const { id, epoch } of rows) process.epochs.set(id, epoch);
    const names = rows.map(({ id, epoch }) => `${id}@${epoch}`).join(' ');
    process.setting.recorder.tell(() => `${process.name} ${what} ${names}`);
    return rows;
  };
  return {
    claim: async (worker, take) => {
      const rows = await own.claim(worker, take);
      if (!('suspectLoneDeathsMax' in take)) return claimed('claims', rows);
      process.setting.recorder.suspectsClaimed += rows.length;
      return claimed('claims, to run it alone,', rows);
    },
    report: async (report) => {
      const fenced = fence(process, report);
      if (faults.happens('report_lost')) return lost();
      if (faults.happens('report_late')) {
        await process.after(random.whole(1, lateReportMsMax), async () => undefined);
      }
      const verdict = await own.report(fenced);
      tellVerdict(process, report, verdict);
      if (faults.happens('report_duplicated')) repeat(process, own, fenced, verdict);
      if (faults.happens('wake_up_doubled')) wake(process, own);
      return faults.happens('report_answer_lost') ? lost() : verdict;
    },
    beat: (worker) => (faults.happens('beat_lost') ? lost() : own.beat(worker)),
    leases: (worker) => own.leases(worker),
    handBack: (leases) => own.handBack(leases),
  };
}

function tellVerdict(process: SimulatedProcess, report: Report, verdict: Verdict): void {
  const { recorder } = process.setting;
  const { lease, move } = report;
  if (verdict === 'refused') recorder.refusedReports++;
  recorder.tell(() => {
    const what = move.to === 'advance' ? `progress ${move.progress}` : move.to;
    return `${process.name} reports ${lease.itemId}@${lease.epoch} ${what}: ${verdict}`;
  });
}

/** Sends a report again, like a network: later, and as a copy. */
function repeat(process: SimulatedProcess, own: Ledger, report: Report, first: Verdict): void {
  const { random, recorder } = process.setting;
  const again = { ...report, lease: { ...report.lease } };
  const sent = process.after(random.whole(0, slowMsMax), () => own.report(again));
  sent.then(
    (verdict) => {
      if (verdict === 'refused' || first === 'refused') return;
      recorder.violate('everyReportOnce', `item ${again.lease.itemId}: applied twice`);
    },
    () => undefined, // The second sending may fail like any other, and has no observer.
  );
}

/** Nothing is returned, but the signal fires: a worker looks for work that does not exist. */
function wake(process: SimulatedProcess, own: Ledger): void {
  const rung = process.after(process.setting.random.whole(1, slowMsMax), () => own.handBack([]));
  rung.catch(() => undefined); // A lost signal is tolerated.
}

const lastMove = sql<{ old_epoch: number }>`
  SELECT old_epoch FROM watched_moves WHERE item_id = :id ORDER BY id DESC LIMIT 1`;

/**
 * Checks, in the transaction that applies a report, that the item moved from the report's epoch.
 */
function fence(process: SimulatedProcess, report: Report): Report {
  const { itemId: id, epoch } = report.lease;
  return {
    ...report,
    effect: async (transaction) => {
      const [move] = await transaction.run(lastMove, { id });
      if (move?.old_epoch !== epoch) {
        const detail = `item ${id} was at ${move?.old_epoch}, and a report of ${epoch} was applied`;
        process.setting.recorder.violate('everyZombieRefused', detail);
      }
      return (await report.effect?.(transaction)) ?? [];
    },
  };
}
