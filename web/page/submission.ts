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

export interface Plan {
  readonly corpus: string;
  readonly lane: Lane;
  readonly urls: readonly string[];
  readonly files: readonly ChosenFile[];
  /** The whole site of the only address. */
  readonly crawl?: CrawlPlan | undefined;
  /** The addresses become a source that the corpus follows. */
  readonly follow?: Follow | undefined;
}

export interface Follow {
  readonly kind: 'urls' | 'site' | 'feed';
  readonly schedule: string;
}

export interface Handed {
  /** More than one if the files exceed what one may have. */
  readonly jobs: readonly string[];
  /** The name of the new source. */
  readonly source?: string | undefined;
  /** Addresses that the service refused, and why. The others were submitted. */
  readonly refused: readonly string[];
  readonly refusal?: string | undefined;
}

export interface Submission {
  /** The sent share of the upload; undefined if nothing is being sent. */
  readonly sentShare: number | undefined;
  readonly error: unknown;
  /** Resolves to whether all sources are staged. */
  readonly stage: (plan: Plan) => Promise<boolean>;
  /** Resolves to what was created; undefined if it failed. */
  readonly handOver: (plan: Plan) => Promise<Handed | undefined>;
  readonly abort: () => void;
}

const staged = { files: 50, bytes: 32_000_000 };
const triesMax = 3;

type Sender<Answer> = (client: Client, sending: Sending) => Promise<Answer>;

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
  const run = async <Answer>(plan: Plan, send: Sender<Answer>): Promise<Answer | undefined> => {
    const total = bytesOf(plan.files);
    stop.current = new AbortController();
    const sending: Sending = { signal: stop.current.signal, sentBefore: 0 };
    const onSent = (bytes: number): void =>
      setShare(total === 0 ? 0 : Math.min((sending.sentBefore + bytes) / total, 1));
    const { key } = keyring;
    const client = new Client({ url: location.origin, key, fetch: progressFetch(onSent) });
    setShare(0);
    setError(undefined);
    try {
      return await send(client, sending);
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
    stage: async (plan) => (await run(plan, stageWith(plan))) ?? false,
    handOver: (plan) => run(plan, handOverWith(plan, newKey())),
    abort: () => stop.current?.abort(),
  };
}

/** Unique among the requests of one caller. `randomUUID` exists only where HTTPS does. */
function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}

/** Staging a name again replaces it, so repeating a request is safe. */
function stageWith(plan: Plan): Sender<boolean> {
  return async (client, sending) => {
    const { signal } = sending;
    const { corpus: corpus_name, urls } = plan;
    if (urls.length > 0) await client.stage({ corpus_name, urls, signal });
    for (const files of batchesOf(plan.files, staged)) {
      await client.stage({ corpus_name, files: files.map(namedOf), signal });
      sending.sentBefore += bytesOf(files);
    }
    return true;
  };
}

function handOverWith(plan: Plan, key: string): Sender<Handed> {
  return async (client, sending) => {
    const jobs: string[] = [];
    const refusals: Refusal[] = [];
    const parts = partsOf(plan);
    for (let part = parts.shift(); part; part = parts.shift()) {
      const ask = { key: `${key}-${parts.length}-${refusals.length}`, signal: sending.signal };
      try {
        jobs.push(await submitPersistently(client, part, ask));
        sending.sentBefore += bytesOf(part.files);
      } catch (error) {
        const refusal = refusalOf(error, part);
        if (!refusal) throw error;
        refusals.push(refusal);
        const urls = part.urls.filter((url) => !refusal.urls.includes(url));
        parts.unshift({ ...part, urls });
      }
    }
    // Last, so that a refused source does not keep the files from being added.
    const source = plan.follow && (await follow(client, plan, plan.follow));
    const refused = refusals.flatMap(({ urls }) => urls);
    return { jobs, source, refused, refusal: refusals[0]?.message };
  };
}

interface Refusal {
  readonly urls: readonly string[];
  readonly message: string;
}

/** A job is refused whole. Its message names the host, so the others can be submitted. */
function refusalOf(error: unknown, { urls }: Plan): Refusal | undefined {
  const { code, message } = toFailure(error);
  if (code !== 'private_address') return undefined;
  const named = urls.filter((url) => /^[ :]/.test(afterHost(message, new URL(url).host)));
  const isPart = named.length > 0 && named.length < urls.length;
  return isPart ? { urls: named, message } : undefined;
}

const afterHost = (message: string, host: string): string =>
  message.startsWith(host) ? message.slice(host.length) : '';

/** Plans that fit into one request each. */
function partsOf(plan: Plan): Plan[] {
  const { uploadFilesMax, uploadBytesMax } = limits.request;
  const files = batchesOf(plan.files, { files: uploadFilesMax, bytes: uploadBytesMax });
  const addresses = plan.urls.length > 0 && !plan.follow ? [{ ...plan, files: [] }] : [];
  return [...addresses, ...files.map((part) => ({ ...plan, urls: [], files: part }))];
}

/** Adds a source. Its schedule begins the first run; without one, it is asked for. */
async function follow(client: Client, plan: Plan, { kind, schedule }: Follow): Promise<string> {
  const { corpus: corpus_name, urls, crawl } = plan;
  const { url: _url, ...within } = crawl ? crawlBody('', crawl) : { url: '' };
  const body = {
    corpus_name,
    kind,
    location: urls.join(' '),
    ...(kind === 'site' && within),
    ...(schedule !== '' && { schedule }),
  };
  const { name } = await client.ask('POST /sources', { body });
  if (schedule === '') {
    await client.ask('POST /sources/:name/run', { params: { name }, body: {} });
  }
  return name;
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
  const { corpus: corpus_name, lane, urls, crawl } = plan;
  if (plan.files.length > 0) {
    const files = plan.files.map(namedOf);
    return client.upload({ corpus_name, lane, files, idempotencyKey, signal });
  }
  const body = crawl
    ? { corpus_name, lane, crawl: crawlBody(urls[0] ?? '', crawl) }
    : { corpus_name, lane, urls: [...urls] };
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
