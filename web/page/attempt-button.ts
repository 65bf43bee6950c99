/** The one button: what it says and does, from where the attempt stands. */

import { limits } from '../../src/kernel/limits/limits.ts';
import type { Attempt } from '../live/attempt.ts';
import { counted } from '../part/wording.ts';

const { sourcesMax } = limits.attempt;

export type Deed = 'start' | 'stop' | 'resume' | 'abort';

export interface OneButton {
  readonly text: string;
  /** Absent where there is nothing to do but wait. */
  readonly deed?: Deed;
}

export interface Circumstances {
  readonly attempt: Pick<Attempt, 'status' | 'occupied'> | undefined;
  /** How much of what is being sent has been sent, from 0 to 1. */
  readonly sentShare: number | undefined;
  /** What a start would take: what is ready here, and what is staged already. */
  readonly sources: number;
  readonly corpus: string;
}

type Row = readonly [
  isSo: (now: Circumstances) => boolean,
  button: (now: Circumstances) => OneButton,
];

const isAt =
  (status: Attempt['status']) =>
  ({ attempt }: Circumstances): boolean =>
    attempt?.status === status;

/** The first row that fits. */
const rows: readonly Row[] = [
  [
    ({ sentShare }) => sentShare !== undefined,
    ({ sentShare = 0 }) => ({ text: `Sending, ${percent(sentShare)}: stop`, deed: 'abort' }),
  ],
  [({ attempt }) => attempt === undefined, () => ({ text: 'Start' })],
  [({ attempt }) => attempt?.occupied === true, () => ({ text: 'Somebody else is adding' })],
  [isAt('running'), () => ({ text: 'Pause', deed: 'stop' })],
  [isAt('stopping'), () => ({ text: 'Stopping…' })],
  [isAt('paused'), () => ({ text: 'Resume', deed: 'resume' })],
  [
    ({ sources }) => sources > sourcesMax,
    () => ({ text: `More than ${sourcesMax} sources: hand them over as a job` }),
  ],
  [
    ({ sources }) => sources > 0,
    ({ sources, corpus }) => ({
      text: `Add ${counted(sources, 'source')} to ${corpus}`,
      deed: 'start',
    }),
  ],
  [isAt('complete'), () => ({ text: 'Complete' })],
  [() => true, () => ({ text: 'Start' })],
];

export function oneButton(now: Circumstances): OneButton {
  const button = rows.find(([isSo]) => isSo(now))?.[1];
  return button?.(now) ?? { text: 'Start' };
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

/** Whether sources are being worked on, or wait to be worked on further. */
export function isOpen(attempt: Pick<Attempt, 'status'> | undefined): boolean {
  return attempt !== undefined && !['idle', 'complete'].includes(attempt.status);
}
