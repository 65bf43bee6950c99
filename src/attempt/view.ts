/** The attempt and its staged sources as shown to people, without paths of this machine. */

import type { FailureCode } from '../kernel/failure/failure.ts';
import { type AttemptEvent, isSafeToLeave } from '../kernel/lifecycle/attempt.ts';
import { isReady } from './commit.ts';
import type { Work } from './staging/item-batch.ts';
import { explain, type Plan } from './staging/plan.ts';
import type { StagedSource } from './staging/staging.ts';
import type { AttemptState } from './state.ts';

export const sourceStatuses = [
  'staged',
  'checked',
  'parsed',
  'split',
  'skipped',
  'refused',
  'failed',
] as const;

export type SourceStatus = (typeof sourceStatuses)[number];

export interface SourceView {
  readonly id: string;
  readonly kind: StagedSource['kind'];
  readonly name: string;
  /** The corpus it was staged for. */
  readonly corpus: string | null;
  readonly bytes: number | null;
  readonly mediaType: string | null;
  readonly status: SourceStatus;
  /** The plan, once preflight has decided. */
  readonly plan: Plan['do'] | null;
  readonly explanation: string;
  readonly chunks: number | null;
  readonly code: FailureCode | null;
}

/** The first match. */
const statuses: readonly (readonly [SourceStatus, (work: Work) => boolean])[] = [
  ['failed', ({ failure }) => failure !== undefined],
  ['refused', ({ plan }) => plan?.do === 'refuse'],
  ['skipped', ({ plan }) => plan?.do === 'skip'],
  ['split', ({ cut }) => cut !== undefined],
  ['parsed', ({ text }) => text !== undefined],
  ['checked', ({ plan }) => plan !== undefined],
];

export function viewOfSource(work: Work): SourceView {
  const { staged, taken, plan, cut } = work;
  const failure = work.failure ?? (plan?.do === 'refuse' ? plan.failure : undefined);
  return {
    id: staged.id,
    kind: staged.kind,
    name: staged.name,
    corpus: staged.corpus ?? null,
    bytes: taken?.bytes ?? staged.bytes,
    mediaType: taken?.mediaType ?? null,
    status: statuses.find(([, fits]) => fits(work))?.[0] ?? 'staged',
    plan: plan?.do ?? null,
    explanation: explanationOf(work),
    chunks: cut?.chunks ?? null,
    code: failure?.code ?? null,
  };
}

function explanationOf({ plan, failure }: Work): string {
  if (failure) return `skipped: ${failure.message}`;
  return plan ? explain(plan) : 'waiting for preflight';
}

export interface Counts {
  readonly total: number;
  readonly checked: number;
  readonly parsed: number;
  readonly split: number;
  readonly skipped: number;
  /** Refused, or failed later. */
  readonly failed: number;
}

export function countsOf(works: readonly Work[]): Counts {
  const count = (fits: (work: Work) => boolean): number => works.filter(fits).length;
  return {
    total: works.length,
    checked: count(({ plan }) => plan !== undefined),
    parsed: count(({ text }) => text !== undefined),
    split: count(isReady),
    skipped: count(({ plan }) => plan?.do === 'skip'),
    failed: count(({ failure, plan }) => failure !== undefined || plan?.do === 'refuse'),
  };
}

export interface AttemptView extends AttemptState {
  /** What the one button offers now. */
  readonly actions: readonly AttemptEvent[];
  /** Whether the person may leave now without losing anything. */
  readonly safeToLeave: boolean;
  readonly corpus: string | null;
  /** The corpus does not exist yet: the commit creates it. */
  readonly isDraft: boolean;
  readonly counts: Counts | null;
  /** The job that continues with the latest commit. */
  readonly jobKey: string | null;
  /** Why the attempt paused on its own. */
  readonly trouble: { readonly code: FailureCode; readonly message: string } | null;
  /** All slots are taken: this caller has to wait. */
  readonly isOccupied: boolean;
}

export type ViewDetails = Omit<AttemptView, keyof AttemptState | 'safeToLeave'>;

export function viewOfAttempt(state: AttemptState, details: ViewDetails): AttemptView {
  return {
    ...state,
    safeToLeave: isSafeToLeave(state.phase),
    ...details,
  };
}
