/**
 * Sends the planned sources: staged for the attempt, or submitted as a job. Files are sent in
 * several requests, so that none is too large and the upload progress is known.
 */
import { useRef, useState } from 'react';
import { Client } from '../../src/client/http.ts';
import { isRetried, toFailure } from '../../src/kernel/failure/failure.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import { progressFetch } from '../live/progress-fetch.ts';
import { useWorkbench } from '../workbench.ts';
import { type CrawlPlan, crawlBody } from './add-crawl.tsx';
import type { ChosenFile } from './chosen-file.ts';
import type { Lane } from './preflight.ts';

export type Plan = { readonly corpus: string; readonly lane: Lane } & (
  | { readonly kind: 'urls'; readonly urls: readonly string[] }
  | { readonly kind: 'files'; readonly files: readonly ChosenFile[] }
  | { readonly kind: 'crawl'; readonly crawl: CrawlPlan }
);

export interface Submission {
  /** The sent share of the upload; undefined if nothing is being sent. */
  readonly sentShare: number | undefined;
  readonly error: unknown;
  /** Resolves to whether all sources are staged. */
  readonly stage: (plan: Plan) => Promise<boolean>;
  /** Resolves to the ids of the jobs: more than one if the files exceed what one may have. */
  readonly handOver: (plan: Plan) => Promise<readonly string[]>;
  readonly abort: () => void;
}

const staged = { files: 50, bytes: 32_000_000 };
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
    handOver: async (plan) =>
      (await run<string[]>(plan, handOverWith(plan, crypto.randomUUID()))) ?? [],
    abort: () => stop.current?.abort(),
  };
}

/** Staging a name again replaces it, so repeating a request is safe. */
function stageWith(plan: Plan): Sender {
  return async (client, sending) => {
    const { signal } = sending;
    const { corpus: corpus_name } = plan;
    if (plan.kind === 'urls') await client.stage({ corpus_name, urls: plan.urls, signal });
    for (const files of plan.kind === 'files' ? batchesOf(plan.files, staged) : []) {
      await client.stage({ corpus_name, files: files.map(namedOf), signal });
      sending.sentBefore += bytesOf(files);
    }
    return true;
  };
}

function handOverWith(plan: Plan, key: string): Sender {
  return async (client, sending) => {
    const jobs: string[] = [];
    for (const part of partsOf(plan)) {
      const ask = { key: `${key}-${jobs.length}`, signal: sending.signal };
      jobs.push(await submitPersistently(client, part, ask));
      if (part.kind === 'files') sending.sentBefore += bytesOf(part.files);
    }
    return jobs;
  };
}

/** Plans that fit into one request each. */
function partsOf(plan: Plan): Plan[] {
  if (plan.kind !== 'files') return [plan];
  const { uploadFilesMax, uploadBytesMax } = limits.request;
  const parts = batchesOf(plan.files, { files: uploadFilesMax, bytes: uploadBytesMax });
  return parts.map((files) => ({ ...plan, files }));
}

interface Ask {
  readonly key: string;
  readonly signal: AbortSignal;
}

/** The idempotency key makes it safe to repeat the request. */
async function submitPersistently(client: Client, plan: Plan, ask: Ask): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    try {
      return (await submit(client, plan, ask)).job_id;
    } catch (error) {
      const isHopeless = !isRetried(toFailure(error).code) || tries >= triesMax;
      if (isHopeless || ask.signal.aborted) throw error;
    }
  }
}

function submit(
  client: Client,
  plan: Plan,
  { key: idempotencyKey, signal }: Ask,
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

const namedOf = ({ path, file }: ChosenFile) => ({ name: path, blob: file });
const bytesOf = (files: readonly ChosenFile[]): number =>
  files.reduce((sum, { file }) => sum + file.size, 0);

function batchesOf(files: readonly ChosenFile[], most: typeof staged): ChosenFile[][] {
  const batches: ChosenFile[][] = [];
  for (const chosen of files) {
    const last = batches.at(-1);
    const isFull =
      !last || last.length >= most.files || bytesOf(last) + chosen.file.size > most.bytes;
    if (isFull) batches.push([chosen]);
    else last.push(chosen);
  }
  return batches;
}
