/** The data of the attempt button: the attempt, its staged sources, and the running upload. */
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { attemptStatus } from '../../src/kernel/lifecycle/attempt.ts';
import {
  type Attempt,
  forgetSourceMessages,
  refreshAttempt,
  type Staged,
  useAttempt,
  useSourceMessages,
  useStaging,
} from '../live/attempt.ts';
import { counted } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';
import { type AttemptButton, attemptButton, type ButtonAction, isOpen } from './attempt-button.ts';
import { corpusProblem } from './preflight.ts';
import { type Plan, type Submission, useSubmission } from './submission.ts';

export interface AttemptButtonState {
  readonly button: AttemptButton;
  readonly attempt: Attempt | undefined;
  /** Sources of the open or just finished attempt, and staged ones. */
  readonly sources: readonly Staged[];
  readonly isSending: boolean;
  readonly isAsking: boolean;
  /** No new sources can be chosen now. */
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly act: (action: ButtonAction) => void;
  readonly handOver: (plan: Plan) => Promise<void>;
}

export interface AttemptButtonOptions {
  readonly plan: Plan | undefined;
  readonly corpus: string;
  /** Called when the chosen sources are sent and can be removed from the form. */
  readonly onSent: (refused?: readonly string[]) => void;
}

export function useAttemptButton({
  plan,
  corpus,
  onSent,
}: AttemptButtonOptions): AttemptButtonState {
  const { queries } = useWorkbench();
  const attempt = useAttempt();
  // An open attempt shows its own sources, another corpus does not get leftovers.
  const all = useStaging().data?.items ?? [];
  const into = isOpen(attempt.data) ? attempt.data?.corpus_name : corpus;
  const staged = all.filter(({ corpus_name }) => corpus_name === null || corpus_name === into);
  const messages = useSourceMessages();
  const submission = useSubmission();
  const handOver = useHandOver(submission, onSent);
  const request = useRequest();
  const isSending = submission.sentShare !== undefined;
  const start = async (): Promise<void> => {
    if (plan) {
      if (!(await submission.stage(plan))) return refreshAttempt(queries);
      onSent();
    }
    forgetSourceMessages(queries);
    request.mutate({ action: 'start', corpus });
  };
  const act = (action: ButtonAction): void => {
    if (action === 'abort') submission.abort();
    else if (action === 'start') void start();
    else request.mutate({ action, corpus });
  };
  return {
    button: attemptButton({
      attempt: attempt.data,
      sentShare: submission.sentShare,
      sources: corpusProblem(corpus) === undefined ? countOf(plan) + staged.length : 0,
      corpus,
    }),
    attempt: attempt.data,
    sources: sourcesOf(attempt.data, staged, messages),
    isSending,
    isAsking: request.isPending,
    isBusy: isSending || isOpen(attempt.data),
    error: submission.error ?? request.error ?? attempt.error ?? undefined,
    act,
    handOver,
  };
}

/** Submits a background job or a source, and shows it. */
function useHandOver(submission: Submission, onSent: AttemptButtonOptions['onSent']) {
  const { notices, queries } = useWorkbench();
  const navigate = useNavigate();
  return async (given: Plan): Promise<void> => {
    const handed = await submission.handOver(given);
    if (!handed) return;
    const { source: name, jobs, refused, refusal } = handed;
    onSent(refused);
    if (refusal !== undefined) {
      const what = counted(refused.length, 'address was', 'addresses were');
      const kept = refused.length === 1 ? 'It is' : 'They are';
      notices.tell(`${what} not added: ${refusal}. ${kept} kept on the page Add.`, { tone: 'bad' });
    }
    const [id, ...others] = jobs;
    if (name !== undefined) {
      await queries.invalidateQueries({ queryKey: ['sources'] });
      await navigate({ to: '/sources/$name', params: { name }, ignoreBlocker: true });
    } else if (id === undefined || others.length > 0)
      await navigate({ to: '/jobs', ignoreBlocker: true });
    else await navigate({ to: '/jobs/$id', params: { id }, ignoreBlocker: true });
  };
}

const routes = {
  stop: 'POST /attempt/stop',
  resume: 'POST /attempt/resume',
} as const;

function useRequest() {
  const { client, queries } = useWorkbench();
  return useMutation({
    mutationFn: ({ action, corpus }: { action: Exclude<ButtonAction, 'abort'>; corpus: string }) =>
      action === 'start'
        ? client().ask('POST /attempt/start', { body: { corpus_name: corpus } })
        : client().ask(routes[action]),
    onSuccess: (attempt) => queries.setQueryData(['attempt'], attempt),
    onSettled: () => refreshAttempt(queries),
  });
}

function countOf(plan: Plan | undefined): number {
  return plan ? plan.urls.length + plan.files.length : 0;
}

/** Processed sources are no longer staged; their last message is still shown. */
function sourcesOf(
  attempt: Attempt | undefined,
  staged: readonly Staged[],
  messages: ReadonlyMap<string, Staged>,
): readonly Staged[] {
  if (attempt?.status !== attemptStatus.complete) return staged;
  const left = new Set(staged.map(({ id }) => id));
  return [...[...messages.values()].filter(({ id }) => !left.has(id)), ...staged];
}
