/** Constructs the parts of the attempt, and removes what dead processes have left. */
import type { Liveness } from '../engine/item/liveness.ts';
import { makeCancellationFlags } from './cancellation.ts';
import { AttemptSession, type SessionOptions } from './session.ts';
import { Workspaces } from './staging/workspace.ts';

export interface AttemptOptions extends Omit<SessionOptions, 'flags' | 'workspaces'> {
  /** Holds only workspaces. */
  readonly folder: string;
  readonly liveness: Liveness;
}

export async function openAttempt(options: AttemptOptions): Promise<AttemptSession> {
  const { folder, liveness, world, log } = options;
  const workspaces = new Workspaces({ folder, liveness, world, log });
  await workspaces.removeAbandoned();
  const flags = makeCancellationFlags();
  return new AttemptSession({ ...options, flags, workspaces });
}
