/**
 * Sarvam's batch speech to text: a job is created, which is free, the recording is uploaded to it,
 * and then it is started. The job is noted between the two, so that a started one is recognized. It
 * has no way to cancel a job.
 */
import type { Saying } from '../../../kernel/batch-decision.ts';
import { checkSame, lasting, listOf, needText, objectOf, sayingOf, textOf } from '../answer.ts';
import type { BatchProvider, ResultLine } from '../batch-provider.ts';
import type { Endpoint } from '../endpoint.ts';
import { failedLine, notedOnce, polledBy } from '../kit.ts';

export interface SarvamOptions {
  readonly endpoint: Endpoint;
  /** Reads a recording. */
  readonly read: (source: string, signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer>>;
}

const words: Readonly<Record<string, Saying>> = {
  Accepted: 'running',
  Pending: 'running',
  Running: 'running',
  Completed: 'completed',
  Failed: 'failed',
};

const jobs = '/speech-to-text/job/v1';

export function sarvamTranscriber({ endpoint, read }: SarvamOptions): BatchProvider {
  return {
    name: 'SARVAM',
    taskTypes: ['transcription'],
    split: 'source',
    merge: 'flat',
    modelsMax: 1,
    recognizedBy: 'note',
    refuses: (source) =>
      /^(?:https?:\/\/|blob:)/.test(source) ? undefined : 'Sarvam is sent what is read over http',
    find: async (_, { notes, signal }) => {
      const { job_id: id } = notes;
      if (id === undefined) return undefined;
      const answer = await endpoint.json(`${jobs}/${encodeURIComponent(id)}/status`, { signal });
      // Accepted: it was created, and never started.
      return answer.job_state === 'Accepted' ? undefined : id;
    },
    submit: async ({ sources, language, model }, context) => {
      const { signal } = context;
      const [source = ''] = sources;
      const id = await notedOnce(context, 'job_id', async () => {
        const parameters = {
          language_code: languageOf(language),
          model: model ?? 'saaras:v3',
          // Only then does the result say how long the recording is.
          with_timestamps: true,
        };
        const made = await endpoint.json(jobs, { body: { job_parameters: parameters }, signal });
        return needText(made.job_id, 'job_id');
      });
      const name = fileNameOf(source);
      const upload = await endpoint.json(`${jobs}/upload-files`, {
        body: { job_id: id, files: [name] },
        signal,
      });
      const link = objectOf(objectOf(upload.upload_urls)[name]).file_url;
      const body = await read(source, signal);
      const headers = { 'x-ms-blob-type': 'BlockBlob', 'content-type': 'application/octet-stream' };
      await endpoint.put(needText(link, 'upload address'), { body, headers, signal });
      await endpoint.json(`${jobs}/${encodeURIComponent(id)}/start`, { method: 'POST', signal });
      return id;
    },
    poll: polledBy(async ({ externalId, sources }, signal) => {
      const path = `${jobs}/${encodeURIComponent(externalId)}/status`;
      const answer = await endpoint.json(path, { signal });
      checkSame(answer.job_id, externalId);
      const said = sayingOf(words, answer.job_state);
      const details = listOf(answer.job_details);
      const problem = textOf(answer.error_message) ?? textOf(details[0]?.error_message);
      if (said !== 'completed') return { said, detail: problem ?? textOf(answer.job_state) };
      const [source = ''] = sources;
      const isGood = (textOf(details[0]?.state) ?? 'Success') === 'Success';
      const named = textOf(listOf(details[0]?.outputs)[0]?.file_name);
      const output = isGood ? named : undefined;
      const wanted = { externalId, source, output, problem };
      return { said, detail: problem, results: () => resultsOf(endpoint, wanted, signal) };
    }),
    cancel: async () => false,
  };
}

/** Sarvam names languages with their region, which is always India; Odia is `od`. */
function languageOf(language = 'unknown'): string {
  if (!/^[a-z]{2,3}$/.test(language)) return language;
  return `${language === 'or' ? 'od' : language}-IN`;
}

function fileNameOf(source: string): string {
  const name = new URL(source).pathname.split('/').at(-1) ?? '';
  return name.replace(/[^\w.-]/g, '_') || 'recording';
}

interface Wanted {
  readonly externalId: string;
  readonly source: string;
  readonly output: string | undefined;
  readonly problem: string | undefined;
}

async function* resultsOf(
  endpoint: Endpoint,
  { externalId, source, output, problem }: Wanted,
  signal: AbortSignal,
): AsyncGenerator<ResultLine, void> {
  if (output === undefined) {
    yield failedLine(source, problem ?? 'Sarvam gave no output');
    return;
  }
  const answer = await endpoint.json(`${jobs}/download-files`, {
    body: { job_id: externalId, files: [output] },
    signal,
  });
  const link = objectOf(objectOf(answer.download_urls)[output]).file_url;
  const content = await endpoint.linked(needText(link, 'download address'), signal);
  const text = textOf(content.transcript) ?? '';
  const language = textOf(content.language_code);
  const { end_time_seconds: ends } = objectOf(content.timestamps);
  const seconds = Array.isArray(ends) ? Number(ends.at(-1)) : Number.NaN;
  const value = { source, text, ...(language && { language }), ...lasting(seconds) };
  yield { id: source, isOk: true, value };
}
