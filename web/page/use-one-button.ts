/** What the one button works with: the attempt, what is staged for it, and what is being sent. */
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import {
  type Attempt,
  forgetToldSources,
  refreshAttempt,
  type Staged,
  useAttempt,
  useStaging,
  useToldSources,
} from '../live/attempt.ts';
import { useWorkbench } from '../workbench.ts';
import { type Deed, isOpen, type OneButton, oneButton } from './attempt-button.ts';
import { corpusProblem } from './preflight.ts';
import { type Plan, useSubmission } from './submission.ts';

export interface OneButtonState {
  readonly button: OneButton;
  readonly attempt: Attempt | undefined;
  /** Of the attempt that is open or has just ended, and what is staged beside. */
  readonly sources: readonly Staged[];
  readonly isSending: boolean;
  readonly isAsking: boolean;
  /** Nothing new can be chosen now. */
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly act: (deed: Deed) => void;
  readonly handOver: (plan: Plan) => Promise<void>;
}

export interface OneButtonOptions {
  readonly plan: Plan | undefined;
  readonly corpus: string;
  /** What was chosen has been sent, and need not be kept. */
  readonly onSent: () => void;
}

export function useOneButton({ plan, corpus, onSent }: OneButtonOptions): OneButtonState {
  const { queries } = useWorkbench();
  const navigate = useNavigate();
  const attempt = useAttempt();
  const staged = useStaging().data?.items ?? [];
  const told = useToldSources();
  const submission = useSubmission();
  const request = useRequest();
  const isSending = submission.sentShare !== undefined;
  const start = async (): Promise<void> => {
    if (plan && plan.kind !== 'crawl') {
      if (!(await submission.stage(plan))) return refreshAttempt(queries);
      onSent();
    }
    forgetToldSources(queries);
    request.mutate({ deed: 'start', corpus });
  };
  const handOver = async (given: Plan): Promise<void> => {
    const id = await submission.handOver(given);
    if (id === undefined) return;
    onSent();
    await navigate({ to: '/jobs/$id', params: { id }, ignoreBlocker: true });
  };
  const act = (deed: Deed): void => {
    if (deed === 'abort') submission.abort();
    else if (deed === 'start') void start();
    else request.mutate({ deed, corpus });
  };
  return {
    button: oneButton({
      attempt: attempt.data,
      sentShare: submission.sentShare,
      sources: corpusProblem(corpus) === undefined ? countOf(plan) + staged.length : 0,
      corpus,
    }),
    attempt: attempt.data,
    sources: sourcesOf(attempt.data, staged, told),
    isSending,
    isAsking: request.isPending,
    isBusy: isSending || isOpen(attempt.data),
    error: submission.error ?? request.error ?? attempt.error ?? undefined,
    act,
    handOver,
  };
}

const routes = {
  stop: 'POST /attempt/stop',
  resume: 'POST /attempt/resume',
} as const;

function useRequest() {
  const { client, queries } = useWorkbench();
  return useMutation({
    mutationFn: ({ deed, corpus }: { deed: Exclude<Deed, 'abort'>; corpus: string }) =>
      deed === 'start'
        ? client().ask('POST /attempt/start', { body: { corpus_name: corpus } })
        : client().ask(routes[deed]),
    onSuccess: (attempt) => queries.setQueryData(['attempt'], attempt),
    onSettled: () => refreshAttempt(queries),
  });
}

function countOf(plan: Plan | undefined): number {
  if (plan?.kind === 'urls') return plan.urls.length;
  return plan?.kind === 'files' ? plan.files.length : 0;
}

/** What the attempt has dealt with is staged no more; what was told of it last still stands. */
function sourcesOf(
  attempt: Attempt | undefined,
  staged: readonly Staged[],
  told: ReadonlyMap<string, Staged>,
): readonly Staged[] {
  if (attempt?.status !== 'complete') return staged;
  const left = new Set(staged.map(({ id }) => id));
  return [...[...told.values()].filter(({ id }) => !left.has(id)), ...staged];
}
