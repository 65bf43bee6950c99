/**
 * Gemini batches: the requests are uploaded as a file of lines with keys, the responses come as
 * another. A batch has our token as its display name, and is recognized by it in the list.
 */
import type { Saying } from '../../../kernel/batch-decision.ts';
import { Failure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import type { JsonObject } from '../../../kernel/provider-state.ts';
import {
  checkSame,
  countOf,
  listOf,
  needText,
  objectOf,
  readLines,
  sayingOf,
  sayingOfError,
  textOf,
} from '../answer.ts';
import type {
  BatchJobRef,
  BatchProvider,
  BatchRequest,
  NewBatchJob,
  PollAnswer,
  ResultLine,
} from '../batch-provider.ts';
import type { Endpoint } from '../endpoint.ts';
import { gatherLines } from '../gather.ts';

const words: Readonly<Record<string, Saying>> = {
  STATE_PENDING: 'running',
  STATE_RUNNING: 'running',
  STATE_SUCCEEDED: 'completed',
  STATE_FAILED: 'failed',
  STATE_CANCELLED: 'canceled',
  STATE_EXPIRED: 'expired',
};

export function geminiBatches(endpoint: Endpoint): BatchProvider {
  return {
    name: 'GEMINI',
    taskTypes: ['completion'],
    split: 'model',
    merge: 'by_model',
    models: /^(?:gemini:|gemini-|models\/gemini-)/,
    recognizedBy: 'list',
    find: async ({ token }, { signal }) => {
      let next = '';
      for (let page = 0; page < limits.batch.listPagesMax; page += 1) {
        const answer = await endpoint.json(`/v1beta/batches?pageSize=100${next}`, { signal });
        const found = listOf(answer.operations).find(
          ({ metadata }) => objectOf(metadata).displayName === token,
        );
        if (found) return needText(found.name, 'name of a batch');
        const more = textOf(answer.nextPageToken);
        if (more === undefined) return undefined;
        next = `&pageToken=${encodeURIComponent(more)}`;
      }
      return undefined;
    },
    submit: async (job, { notes, note, signal }) => {
      let file = notes.file_name;
      if (file === undefined) {
        file = await upload(endpoint, job, signal);
        await note('file_name', file);
      }
      const batch = { displayName: job.token, inputConfig: { fileName: file } };
      const path = `/v1beta/models/${modelOf(job.model)}:batchGenerateContent`;
      const answer = await endpoint.json(path, { body: { batch }, signal });
      return needText(answer.name, 'name of a batch');
    },
    check: async (signal) => {
      await endpoint.json('/v1beta/batches?pageSize=1', { signal });
      return 'its list of batches was asked for';
    },
    poll: (job, signal) => poll(endpoint, job, signal),
    cancel: async ({ externalId }, signal) => {
      await endpoint.text(`/v1beta/${externalId}:cancel`, { method: 'POST', signal });
      return true;
    },
  };
}

function modelOf(model = ''): string {
  return model.replace(/^(?:gemini:|models\/)/, '');
}

/** In two steps: first the upload address, then the bytes. */
async function upload(endpoint: Endpoint, job: NewBatchJob, signal: AbortSignal): Promise<string> {
  const lines = await gatherLines(job.requests(), (request) => ({
    key: request.custom_id,
    request: requestOf(request),
  }));
  const { headers } = await endpoint.text('/upload/v1beta/files', {
    body: { file: { display_name: job.token } },
    headers: {
      'x-goog-upload-protocol': 'resumable',
      'x-goog-upload-command': 'start',
      'x-goog-upload-header-content-length': String(lines.length),
      'x-goog-upload-header-content-type': 'application/jsonl',
    },
    signal,
  });
  const place = headers.get('x-goog-upload-url');
  if (place === null) {
    throw new Failure('provider_protocol_error', 'Gemini did not say where to upload to');
  }
  const answer = await endpoint.json(place, {
    body: lines,
    headers: { 'x-goog-upload-offset': '0', 'x-goog-upload-command': 'upload, finalize' },
    signal,
  });
  return needText(objectOf(answer.file).name, 'name of a file');
}

function requestOf({ instruction, input, schema }: BatchRequest): JsonObject {
  return {
    contents: [{ role: 'user', parts: [{ text: input }] }],
    ...(instruction !== undefined && { systemInstruction: { parts: [{ text: instruction }] } }),
    ...(schema && {
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
    }),
  };
}

async function poll(
  endpoint: Endpoint,
  { externalId }: BatchJobRef,
  signal: AbortSignal,
): Promise<PollAnswer> {
  try {
    const answer = await endpoint.json(`/v1beta/${externalId}`, { signal });
    checkSame(answer.name, externalId);
    const metadata = objectOf(answer.metadata);
    const state = textOf(metadata.state)?.replace(/^(?:BATCH|JOB)_/, '');
    const said = sayingOf(words, state);
    const detail = textOf(objectOf(answer.error).message) ?? state;
    const output = { ...objectOf(metadata.output), ...objectOf(answer.response) };
    const file = textOf(output.responsesFile);
    return { said, detail, results: () => resultsOf(endpoint, file, signal) };
  } catch (error) {
    return sayingOfError(error);
  }
}

async function* resultsOf(
  endpoint: Endpoint,
  file: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<ResultLine, void> {
  if (file === undefined) return;
  const path = `/download/v1beta/${file}:download?alt=media`;
  yield* readLines(endpoint.bytes(path, { signal }), lineOf);
}

/** Exhausted, unavailable or late requests may succeed next time. */
const retryableCodes: readonly unknown[] = [4, 8, 13, 14, 429, 500, 503, 504];

function lineOf(line: JsonObject): ResultLine {
  const id = textOf(line.key);
  if (id === undefined) return { id: undefined, odd: 'a line without key' };
  if (line.error !== undefined) {
    const { message, code } = objectOf(line.error);
    const isRetryable = retryableCodes.includes(code);
    return { id, isOk: false, error: textOf(message) ?? `code ${String(code)}`, isRetryable };
  }
  const response = objectOf(line.response);
  const [candidate] = listOf(response.candidates);
  const parts = listOf(objectOf(candidate?.content).parts);
  const text = parts.map((part) => textOf(part.text) ?? '').join('');
  const reason = textOf(candidate?.finishReason);
  if (text === '' || (reason !== undefined && reason !== 'STOP')) {
    const error = `the model ended with ${reason ?? 'nothing'}`;
    return { id, isOk: false, error, isRetryable: false };
  }
  const usage = objectOf(response.usageMetadata);
  const tokensIn = countOf(usage.promptTokenCount);
  // Thinking is counted separately, and billed as output.
  const tokensOut = countOf(usage.candidatesTokenCount) + countOf(usage.thoughtsTokenCount);
  return { id, isOk: true, value: { text }, tokensIn, tokensOut };
}
