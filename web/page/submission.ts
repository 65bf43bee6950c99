/**
 * Sends the planned sources: staged for the attempt, or submitted as a job. Files are sent in
 * several requests, so that none is too large and the upload progress is known.
 */
import { useRef, useState } from 'react';
import { Client } from '../../src/client/http.ts';
import { isRetried, toFailure } from '../../src/kernel/failure/failure.ts';
import { progressFetch } from '../live/progress-fetch.ts';
import { useWorkbench } from '../workbench.ts';
import { type CrawlPlan, crawlBody } from './add-crawl.tsx';
import { type Lane, nameOf } from './preflight.ts';

export type Plan = { readonly corpus: string; readonly lane: Lane } & (
  | { readonly kind: 'urls'; readonly urls: readonly string[] }
  | { readonly kind: 'files'; readonly files: readonly File[] }
  | { readonly kind: 'crawl'; readonly crawl: CrawlPlan }
);

export interface Submission {
  /** The sent share of the upload; undefined if nothing is being sent. */
  readonly sentShare: number | undefined;
  readonly error: unknown;
  /** Resolves to whether all sources are staged. */
  readonly stage: (plan: Plan) => Promise<boolean>;
  /** Resolves to the id of the job, if one was created. */
  readonly handOver: (plan: Plan) => Promise<string | undefined>;
  readonly abort: () => void;
}

const requestBytesMax = 32_000_000;
const requestFilesMax = 50;
const triesMax = 3;

type Sender = (client: Client, sending: Sending) => Promise<unknown>;

interface Sending {
  readonly signal: AbortSignal;
  /** The bytes of earlier requests. */
  sentBefore: number;
}

export function useSubmission(): Submission {
  const { keyring } = useWorkbench();
  const [sentShare, setShare] = useState<number>();
  const [error, setError] = useState<unknown>();
  const stop = useRef<AbortController>(undefined);
  const run = async <Answer>(plan: Plan, send: Sender): Promise<Answer | undefined> => {
    const total = plan.kind === 'files' ? bytesOf(plan.files) : 0;
    stop.current = new AbortController();
    const sending: Sending = { signal: stop.current.signal, sentBefore: 0 };
    const onSent = (bytes: number): void =>
      setShare(total === 0 ? 0 : Math.min((sending.sentBefore + bytes) / total, 1));
    const { key } = keyring;
    const client = new Client({ url: location.origin, key, fetch: progressFetch(onSent) });
    setShare(0);
    setError(undefined);
    try {
      return (await send(client, sending)) as Answer;
    } catch (failed) {
      if (!sending.signal.aborted) setError(failed);
      return undefined;
    } finally {
      setShare(undefined);
    }
  };
  return {
    sentShare,
    error,
    stage: async (plan) => (await run<boolean>(plan, stageWith(plan))) ?? false,
    handOver: (plan) => run<string>(plan, handOverWith(plan, crypto.randomUUID())),
    abort: () => stop.current?.abort(),
  };
}

/** Staging a name again replaces it, so repeating a request is safe. */
function stageWith(plan: Plan): Sender {
  return async (client, sending) => {
    const { signal } = sending;
    if (plan.kind === 'urls') await client.stage({ urls: plan.urls, signal });
    for (const files of plan.kind === 'files' ? batchesOf(plan.files) : []) {
      await client.stage({ files: files.map(namedOf), signal });
      sending.sentBefore += bytesOf(files);
    }
    return true;
  };
}

/** The idempotency key makes it safe to repeat the request. */
function handOverWith(plan: Plan, key: string): Sender {
  return async (client, { signal }) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return (await submit(client, plan, { key, signal })).job_id;
      } catch (error) {
        const isHopeless = !isRetried(toFailure(error).code) || tries >= triesMax;
        if (isHopeless || signal.aborted) throw error;
      }
    }
  };
}

function submit(
  client: Client,
  plan: Plan,
  { key: idempotencyKey, signal }: { key: string; signal: AbortSignal },
): Promise<{ job_id: string }> {
  const { corpus: corpus_name, lane } = plan;
  if (plan.kind === 'files') {
    const files = plan.files.map(namedOf);
    return client.upload({ corpus_name, lane, files, idempotencyKey, signal });
  }
  const body =
    plan.kind === 'urls'
      ? { corpus_name, lane, urls: [...plan.urls] }
      : { corpus_name, lane, crawl: crawlBody(plan.crawl) };
  return client.ask('POST /jobs', { body, headers: { 'idempotency-key': idempotencyKey }, signal });
}

const namedOf = (file: File) => ({ name: nameOf(file), blob: file });
const bytesOf = (files: readonly File[]): number => files.reduce((sum, { size }) => sum + size, 0);

function batchesOf(files: readonly File[]): File[][] {
  const batches: File[][] = [];
  for (const file of files) {
    const last = batches.at(-1);
    const isFull =
      !last || last.length >= requestFilesMax || bytesOf(last) + file.size > requestBytesMax;
    if (isFull) batches.push([file]);
    else last.push(file);
  }
  return batches;
}
