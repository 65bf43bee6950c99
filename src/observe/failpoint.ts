/**
 * The closed list of moments at which a test may stop or kill the process: before and after each
 * commit and each blob write. Without a hook, a failpoint costs one null check.
 */
import type { World } from '../kernel/world.ts';

export const failpoints = [
  'submit.before-commit',
  'submit.after-commit',
  'claim.before-commit',
  'claim.after-commit',
  'step.before-run',
  'step.after-run',
  'paid.before-commit',
  'paid.after-commit',
  'report.before-commit',
  'report.after-commit',
  'wake.before-commit',
  'rescue.before-commit',
  'rescue.after-commit',
  'command.before-commit',
  'command.after-commit',
  'sweep.before-commit',
  'sweep.after-commit',
  'blob.before-write',
  'blob.before-rename',
  'blob.after-rename',
] as const;

/** Failpoints of batch tasks: passed only by a store that has one. */
export const batchFailpoints = [
  'batch.before-submit',
  'batch.after-submit',
  'batch.before-commit',
  'batch.after-commit',
  'batch.before-poll',
  'batch.after-poll',
  'batch.before-output',
  'batch.after-output',
  'batch.before-wind-down',
  'batch.after-cancel',
] as const;

/** Failpoints between services: passed only by a store whose steps run remotely. */
export const handoffFailpoints = [
  'handoff.after-ask',
  'handoff.before-answer',
  'handoff.after-answer',
  'handoff.before-callback',
] as const;

/** Failpoints of sync runs: passed only by a store that follows a source. */
export const syncFailpoints = ['sync.before-commit', 'sync.after-commit'] as const;

export type Failpoint =
  | (typeof failpoints)[number]
  | (typeof batchFailpoints)[number]
  | (typeof handoffFailpoints)[number]
  | (typeof syncFailpoints)[number];

export function failpoint(world: World, name: Failpoint): void {
  world.failpoint?.(name);
}
