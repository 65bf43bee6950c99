/** The attempt button: its label and action, derived from the state of the attempt. */

import { attemptStatus, isOpenAttempt } from '../../src/kernel/lifecycle/attempt.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import type { Attempt } from '../live/attempt.ts';
import { counted } from '../part/wording.ts';

const { sourcesMax } = limits.attempt;

export type ButtonAction = 'start' | 'stop' | 'resume' | 'abort';

export interface AttemptButton {
  readonly text: string;
  /** Absent if the user can only wait. */
  readonly action?: ButtonAction;
}

export interface Circumstances {
  readonly attempt: Pick<Attempt, 'status' | 'occupied' | 'actions'> | undefined;
  /** The sent share of the upload, from 0 to 1. */
  readonly sentShare: number | undefined;
  /** What a start would process: sources of this form, and staged ones. */
  readonly sources: number;
  readonly corpus: string;
}

type Row = readonly [
  isSo: (now: Circumstances) => boolean,
  button: (now: Circumstances) => AttemptButton,
];

const isAt =
  (status: Attempt['status']) =>
  ({ attempt }: Circumstances): boolean =>
    attempt?.status === status;

const offers =
  (action: Attempt['actions'][number]) =>
  ({ attempt }: Circumstances): boolean =>
    attempt?.actions.includes(action) === true;

/** The first matching row wins. */
const rows: readonly Row[] = [
  [
    ({ sentShare }) => sentShare !== undefined,
    ({ sentShare = 0 }) => ({ text: `Sending, ${percent(sentShare)}: stop`, action: 'abort' }),
  ],
  [({ attempt }) => attempt === undefined, () => ({ text: 'Add' })],
  [
    ({ attempt }) => attempt?.occupied === true,
    () => ({ text: 'Another user is adding documents' }),
  ],
  [offers('stop'), () => ({ text: 'Pause', action: 'stop' })],
  [isAt(attemptStatus.stopping), () => ({ text: 'Stopping…' })],
  [offers('resume'), () => ({ text: 'Resume', action: 'resume' })],
  [
    ({ sources }) => sources > sourcesMax,
    () => ({ text: `More than ${sourcesMax} sources: add them in background` }),
  ],
  [
    (now) => now.sources > 0 && offers('start')(now),
    ({ sources, corpus }) => ({
      text: `Add ${counted(sources, 'source')} to ${corpus}`,
      action: 'start',
    }),
  ],
  [isAt(attemptStatus.complete), () => ({ text: 'Complete' })],
  [() => true, () => ({ text: 'Add' })],
];

export function attemptButton(now: Circumstances): AttemptButton {
  const button = rows.find(([isSo]) => isSo(now))?.[1];
  return button?.(now) ?? { text: 'Add' };
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

/** Whether sources are being processed, or wait to be processed. */
export function isOpen(attempt: Pick<Attempt, 'status'> | undefined): boolean {
  return attempt !== undefined && isOpenAttempt(attempt.status);
}
