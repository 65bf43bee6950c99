/** The faults: which exist, how likely they are in this run, and how often they happened. */
import type { Random } from './random.ts';

export const faultKinds = [
  'crash_at_failpoint',
  'crash_before_write',
  'crash_after_write',
  'crash_during_read',
  'crash_at_any_time',
  'graceful_restart',
  'write_failed',
  'write_committed_then_timeout',
  'write_slow',
  'read_failed',
  'report_lost',
  'report_answer_lost',
  'report_duplicated',
  'report_late',
  'claim_answer_lost',
  'beat_lost',
  'wake_up_doubled',
  'timer_late',
  'stall',
  'stall_during_step',
  'suspend_all',
  'clock_jump',
  'step_slow',
  'step_hangs',
  'step_outlives_deadline',
  'step_rate_limited',
  'step_transient',
  'step_schema_invalid',
  'step_fatal',
  'step_unknown_exception',
  'step_throws_at_once',
  'poison_document',
] as const;

export type FaultKind = (typeof faultKinds)[number];
export type FaultCounts = Record<FaultKind, number>;

/** The probability of each fault, each time it could happen, if the run has it. */
const usualRates: FaultCounts = {
  crash_at_failpoint: 0.01,
  crash_before_write: 0.01,
  crash_after_write: 0.015,
  crash_during_read: 0.002,
  crash_at_any_time: 0.15,
  graceful_restart: 0.08,
  write_failed: 0.04,
  write_committed_then_timeout: 0.06,
  write_slow: 0.08,
  read_failed: 0.01,
  report_lost: 0.03,
  report_answer_lost: 0.04,
  report_duplicated: 0.06,
  report_late: 0.06,
  claim_answer_lost: 0.05,
  beat_lost: 0.2,
  wake_up_doubled: 0.1,
  timer_late: 0.05,
  stall: 0.12,
  stall_during_step: 0.005,
  suspend_all: 0.05,
  clock_jump: 0.1,
  step_slow: 0.25,
  step_hangs: 0.01,
  step_outlives_deadline: 0.01,
  step_rate_limited: 0.05,
  step_transient: 0.08,
  step_schema_invalid: 0.01,
  step_fatal: 0.01,
  step_unknown_exception: 0.01,
  step_throws_at_once: 0.01,
  poison_document: 0.06,
};

/** For runs in which processes die all the time, in addition to the other faults. */
const deadlyRates: Partial<FaultCounts> = {
  crash_at_failpoint: 0.15,
  crash_before_write: 0.1,
  crash_after_write: 0.1,
  crash_at_any_time: 0.5,
  poison_document: 0.15,
};

export function noFaults(): FaultCounts {
  return Object.fromEntries(faultKinds.map((kind) => [kind, 0])) as FaultCounts;
}

/**
 * Each run has only some of the faults, some of them often: a run with all of them would hide
 * defects that need one alone (for example, two crashes in a row undo what one zombie could do).
 */
export class Faults {
  readonly counts = noFaults();
  readonly #random: Random;
  #rates: FaultCounts;

  constructor(random: Random, isDeadly = false) {
    this.#random = random;
    this.#rates = noFaults();
    const share = random.pick([0, 0.2, 0.5, 0.8]);
    for (const kind of faultKinds) {
      const strength = random.pick([0.5, 1, 1, 2, 4]);
      if (random.chance(share)) this.#rates[kind] = Math.min(0.5, usualRates[kind] * strength);
    }
    if (isDeadly) Object.assign(this.#rates, deadlyRates);
  }

  happens(kind: FaultKind): boolean {
    if (!this.#random.chance(this.#rates[kind])) return false;
    this.counts[kind]++;
    return true;
  }

  stop(): void {
    this.#rates = noFaults();
  }
}
