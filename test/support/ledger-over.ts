import type { Ledger } from '../../src/engine/item/ledger.ts';

/** The ledger, with some of its methods replaced. */
export const ledgerOver = (own: Ledger, changes: Partial<Ledger>): Ledger => ({
  claim: (...request) => own.claim(...request),
  report: (report) => own.report(report),
  beat: (worker) => own.beat(worker),
  leases: (worker) => own.leases(worker),
  handBack: (leases) => own.handBack(leases),
  ...changes,
});
