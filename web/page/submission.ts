/** The one place that sends what was planned. How it is sent may change; the page need not know. */
import { useMutation } from '@tanstack/react-query';
import { useWorkbench } from '../workbench.ts';
import { type CrawlPlan, crawlBody } from './add-crawl.tsx';
import { nameOf } from './preflight.ts';

export type Plan =
  | { readonly kind: 'urls'; readonly corpus: string; readonly urls: readonly string[] }
  | { readonly kind: 'files'; readonly corpus: string; readonly files: readonly File[] }
  | { readonly kind: 'crawl'; readonly corpus: string; readonly crawl: CrawlPlan };

export interface Submission {
  readonly isSending: boolean;
  readonly error: unknown;
  readonly start: (plan: Plan) => void;
}

export function useSubmission(onSent: (jobId: string) => void): Submission {
  const { client } = useWorkbench();
  const { mutate, isPending, error } = useMutation({
    mutationFn: ({ plan, key }: { plan: Plan; key: string }) => send(plan, key),
    onSuccess: ({ job_id }) => onSent(job_id),
    // The key makes it safe: what was accepted once is not accepted again.
    retry: 2,
  });
  const send = (plan: Plan, key: string) => {
    const headers = { 'idempotency-key': key };
    const { corpus: corpus_name } = plan;
    if (plan.kind === 'files') {
      const files = plan.files.map((file) => ({ name: nameOf(file), blob: file }));
      return client().upload({ corpus_name, files, idempotencyKey: key });
    }
    const body =
      plan.kind === 'urls'
        ? { corpus_name, urls: [...plan.urls] }
        : { corpus_name, crawl: crawlBody(plan.crawl) };
    return client().ask('POST /jobs', { body, headers });
  };
  return {
    isSending: isPending,
    error: error ?? undefined,
    start: (plan) => mutate({ plan, key: crypto.randomUUID() }),
  };
}
