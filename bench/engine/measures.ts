/** The measures, their targets, and the raw limit of the machine. */
import type { StoreKind } from './subjects.ts';

export interface Measure {
  readonly key: string;
  readonly title: string;
  readonly unit: 'rate' | 'ms' | 'times' | 'answer';
  readonly better: 'more' | 'less';
  /** Pawl's own targets, per store. */
  readonly targets?: Partial<Record<StoreKind, number>>;
  /** The raw figure that limits this one, and how many of it one unit needs. */
  readonly bound?: { readonly by: 'raw-batched' | 'raw-commit'; readonly needs: number };
}

const perClaim = (key: string, length: string): Measure => ({
  key,
  title: `Claim of 64 items while ${length} wait, ms`,
  unit: 'ms',
  better: 'less',
  bound: { by: 'raw-commit', needs: 1 },
});

export const measures: readonly Measure[] = [
  {
    key: 'documents',
    title: 'Documents of eight steps, from submission to done, per second',
    unit: 'rate',
    better: 'more',
    targets: { SQLite: 3_000, Postgres: 3_000 },
    // Accepted, claimed, and one per step.
    bound: { by: 'raw-batched', needs: 10 },
  },
  {
    key: 'processed',
    title: 'Jobs of one step, processed per second',
    unit: 'rate',
    better: 'more',
    targets: { SQLite: 25_000, Postgres: 42_000 },
    bound: { by: 'raw-batched', needs: 2 },
  },
  {
    key: 'both',
    title: 'Jobs of one step, enqueued and processed per second',
    unit: 'rate',
    better: 'more',
    targets: { Postgres: 25_000 },
    bound: { by: 'raw-batched', needs: 3 },
  },
  {
    key: 'enqueued',
    title: 'Jobs of one step, enqueued per second',
    unit: 'rate',
    better: 'more',
    bound: { by: 'raw-batched', needs: 1 },
  },
  {
    key: 'alone',
    title: 'One document of eight steps alone, submission to done, ms',
    unit: 'ms',
    better: 'less',
    targets: { SQLite: 3, Postgres: 6 },
    // Accepted, claimed, and six in a row: the three branches share one.
    bound: { by: 'raw-commit', needs: 8 },
  },
  {
    key: 'begun',
    title: 'Submission to the first step begun, ms',
    unit: 'ms',
    better: 'less',
    targets: { SQLite: 0.6 },
    bound: { by: 'raw-commit', needs: 2 },
  },
  perClaim('claim-1000', '1,000'),
  perClaim('claim-100000', '100,000'),
  perClaim('claim-1000000', '1,000,000'),
  {
    key: 'claim-ratio-100000',
    title: 'Claim while 100,000 wait, against 1,000, times',
    unit: 'times',
    better: 'less',
  },
  {
    key: 'claim-ratio-1000000',
    title: 'Claim while 1,000,000 wait, against 1,000, times',
    unit: 'times',
    better: 'less',
    targets: { SQLite: 1.3, Postgres: 1.3 },
  },
  {
    key: 'recovery',
    title: 'After kill -9: from start until the last item of the dead process runs again, ms',
    unit: 'ms',
    better: 'less',
    targets: { SQLite: 1_000, Postgres: 1_000 },
  },
  {
    key: 'zombie',
    title: 'A worker whose lease was taken over finishes late: is its completion accepted?',
    unit: 'answer',
    better: 'less',
    targets: { SQLite: 0, Postgres: 0 },
  },
  {
    key: 'raw-batched',
    title: 'Raw limit: transitions (fenced UPDATE, event INSERT) in batches, per second',
    unit: 'rate',
    better: 'more',
  },
  {
    key: 'raw-single',
    title: 'Raw limit: one transition in each commit, or one flush, per second',
    unit: 'rate',
    better: 'more',
  },
  {
    key: 'raw-commit',
    title: 'Raw limit: one commit, or one flush, after the other, ms',
    unit: 'ms',
    better: 'less',
  },
];
