/**
 * Gemini batches: the requests are uploaded as a file of lines with keys, the responses come as
 * another. A batch has our token as its display name, and is recognized by it in the list.
 */
import type { Saying } from '../../../kernel/batch-decision.ts';
import { Failure } from '../../../kernel/failure/failure.ts';
import type { JsonObject } from '../../../kernel/provider-state.ts';
import { countOf, listOf, needText, objectOf, sayingOf, textOf } from '../answer.ts';
import type { BatchProvider, BatchRequest, NewBatchJob, ResultLine } from '../batch-provider.ts';
import type { Endpoint } from '../endpoint.ts';
import { gatherLines } from '../gather.ts';
import * as kit from '../kit.ts';

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
      const found = await kit.findEntry(
        kit.googleOperations(endpoint, '/v1beta/batches', signal),
        ({ metadata }) => objectOf(metadata).displayName === token,
      );
      return found && needText(found.name, 'name of a batch');
    },
    submit: async (job, context) => {
      const { signal } = context;
      const fileName = await kit.notedOnce(context, 'file_name', () =>
        upload(endpoint, job, signal),
      );
      const batch = { displayName: job.token, inputConfig: { fileName } };
      const path = `/v1beta/models/${modelOf(job.model)}:batchGenerateContent`;
      const answer = await endpoint.json(path, { body: { batch }, signal });
      return needText(answer.name, 'name of a batch');
    },
    ...kit.jobCalls(endpoint, {
      list: ['/v1beta/batches?pageSize=1', 'batches'],
      path: (id) => `/v1beta/${id}`,
      id: 'name',
      cancelPath: (id) => `/v1beta/${id}:cancel`,
      read: (answer, _, signal) => {
        const metadata = objectOf(answer.metadata);
        const state = textOf(metadata.state)?.replace(/^(?:BATCH|JOB)_/, '');
        const detail = textOf(objectOf(answer.error).message) ?? state;
        const output = { ...objectOf(metadata.output), ...objectOf(answer.response) };
        const file = textOf(output.responsesFile);
        const paths = [file && `/download/v1beta/${file}:download?alt=media`];
        const results = () => kit.linesAt(endpoint, paths, { read, signal });
        return { said: sayingOf(words, state), detail, results };
      },
    }),
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

/** Exhausted, unavailable or late requests may succeed next time. */
const retryableCodes: readonly unknown[] = [4, 8, 13, 14, 429, 500, 503, 504];

const read = kit.lineReader('key', (id, line): ResultLine => {
  if (line.error !== undefined) {
    const { message, code } = objectOf(line.error);
    const error = textOf(message) ?? `code ${String(code)}`;
    return kit.failedLine(id, error, retryableCodes.includes(code));
  }
  const response = objectOf(line.response);
  const [candidate] = listOf(response.candidates);
  // A model that thinks may return its thoughts as parts: they are not the answer.
  const parts = listOf(objectOf(candidate?.content).parts).filter(({ thought }) => !thought);
  const text = parts.map((part) => textOf(part.text) ?? '').join('');
  const blocked = textOf(objectOf(response.promptFeedback).blockReason);
  if (blocked !== undefined) return kit.failedLine(id, `the request was blocked: ${blocked}`);
  const reason = textOf(candidate?.finishReason);
  if (text === '' || (reason !== undefined && reason !== 'STOP')) {
    return kit.failedLine(id, `the model ended with ${reason ?? 'nothing'}`);
  }
  const usage = objectOf(response.usageMetadata);
  const tokensIn = countOf(usage.promptTokenCount);
  // Thinking is counted separately, and billed as output.
  const tokensOut = countOf(usage.candidatesTokenCount) + countOf(usage.thoughtsTokenCount);
  return { id, isOk: true, value: { text }, tokensIn, tokensOut };
});
