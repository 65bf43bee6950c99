/**
 * OpenAI batches: the requests are uploaded as a file of lines, the responses come as another, and
 * failed ones as a third. A batch has our token in its metadata, and is recognized by it in the
 * list.
 */
import type { Saying } from '../../../kernel/batch-decision.ts';
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
  validating: 'running',
  in_progress: 'running',
  finalizing: 'running',
  cancelling: 'running',
  completed: 'completed',
  failed: 'failed',
  expired: 'expired',
  cancelled: 'canceled',
};

const routes: Readonly<Record<string, string>> = {
  completion: '/v1/chat/completions',
  embedding: '/v1/embeddings',
};

export function openaiBatches(endpoint: Endpoint): BatchProvider {
  return {
    name: 'OPENAI',
    taskTypes: Object.keys(routes),
    split: 'model',
    merge: 'by_model',
    models: /^(?:openai:|gpt-|o\d|chatgpt-|text-embedding-)/,
    recognizedBy: 'list',
    find: async ({ token }, { signal }) => {
      let after = '';
      for (let page = 0; page < limits.batch.listPagesMax; page += 1) {
        const answer = await endpoint.json(`/batches?limit=100${after}`, { signal });
        const batches = listOf(answer.data);
        // A failed batch never ran and is not charged: it may be submitted again.
        const found = batches.find(
          ({ metadata, status }) => objectOf(metadata).pawl_token === token && status !== 'failed',
        );
        if (found) return needText(found.id, 'id');
        const last = textOf(batches.at(-1)?.id);
        if (answer.has_more !== true || last === undefined) return undefined;
        after = `&after=${encodeURIComponent(last)}`;
      }
      return undefined;
    },
    submit: async (job, { signal, notes, note }) => {
      let file = notes.input_file_id;
      if (file === undefined) {
        file = await upload(endpoint, job, signal);
        await note('input_file_id', file);
      }
      const body = {
        input_file_id: file,
        endpoint: routes[job.taskType],
        completion_window: '24h',
        metadata: { pawl_token: job.token },
      };
      return needText((await endpoint.json('/batches', { body, signal })).id, 'id');
    },
    check: async (signal) => {
      await endpoint.json('/batches?limit=1', { signal });
      return 'its list of batches was asked for';
    },
    poll: (job, signal) => poll(endpoint, job, signal),
    cancel: async ({ externalId }, signal) => {
      await endpoint.text(`/batches/${encodeURIComponent(externalId)}/cancel`, {
        method: 'POST',
        signal,
      });
      return true;
    },
  };
}

async function poll(
  endpoint: Endpoint,
  { externalId, taskType }: BatchJobRef,
  signal: AbortSignal,
): Promise<PollAnswer> {
  try {
    const answer = await endpoint.json(`/batches/${encodeURIComponent(externalId)}`, { signal });
    checkSame(answer.id, externalId);
    const problems = listOf(objectOf(answer.errors).data);
    const hasNoRoom = problems.some(({ code }) => code === 'token_limit_exceeded');
    const said = hasNoRoom ? 'postponed' : sayingOf(words, answer.status);
    const files = [textOf(answer.output_file_id), textOf(answer.error_file_id)];
    const [problem] = problems;
    return {
      said,
      detail: textOf(problem?.message) ?? textOf(answer.status),
      results: () => resultsOf(endpoint, { files, taskType }, signal),
    };
  } catch (error) {
    return sayingOfError(error);
  }
}

async function* resultsOf(
  endpoint: Endpoint,
  {
    files,
    taskType,
  }: { readonly files: readonly (string | undefined)[]; readonly taskType: string },
  signal: AbortSignal,
): AsyncGenerator<ResultLine, void> {
  for (const file of files) {
    if (file === undefined) continue;
    const path = `/files/${encodeURIComponent(file)}/content`;
    yield* readLines(endpoint.bytes(path, { signal }), (line) => lineOf(line, taskType));
  }
}

async function upload(endpoint: Endpoint, job: NewBatchJob, signal: AbortSignal): Promise<string> {
  const lines = await gatherLines(job.requests(), (request) => ({
    custom_id: request.custom_id,
    method: 'POST',
    url: routes[job.taskType],
    body: bodyOf(job, request),
  }));
  const boundary = `pawl-${job.token}`;
  const part = (name: string, more = ''): string =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n`;
  const body = Buffer.concat([
    Buffer.from(`${part('purpose')}\r\nbatch\r\n`),
    Buffer.from(`${part('file', `; filename="${job.token}.jsonl"`)}`),
    Buffer.from('Content-Type: application/jsonl\r\n\r\n'),
    lines,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  return needText((await endpoint.json('/files', { body, headers, signal })).id, 'id of a file');
}

function bodyOf({ taskType, model }: NewBatchJob, request: BatchRequest): JsonObject {
  const name = model?.replace(/^openai:/, '');
  if (taskType === 'embedding') return { model: name, input: request.input };
  const { instruction, input, schema, schema_name: schemaName = 'answer' } = request;
  return {
    model: name,
    messages: [
      ...(instruction === undefined ? [] : [{ role: 'system', content: instruction }]),
      { role: 'user', content: input },
    ],
    ...(schema && {
      response_format: {
        type: 'json_schema',
        json_schema: { name: schemaName, strict: true, schema },
      },
    }),
  };
}

/** Temporary failures may succeed next time; refusals are final. */
const unbegun: readonly unknown[] = ['batch_expired', 'batch_cancelled'];
const retryable = /^(?:408|409|425|429|5\d\d)$/;

function lineOf(line: JsonObject, taskType: string): ResultLine {
  const id = textOf(line.custom_id);
  if (id === undefined) return { id: undefined, odd: 'a line without custom_id' };
  const response = objectOf(line.response);
  const body = objectOf(response.body);
  const status = String(response.status_code ?? '');
  if (status !== '200') {
    const problem = { ...objectOf(body.error), ...objectOf(line.error) };
    const error = textOf(problem.message) ?? `status ${status || 'unknown'}`;
    const isRetryable = retryable.test(status) || unbegun.includes(problem.code);
    return { id, isOk: false, error, isRetryable };
  }
  const usage = objectOf(body.usage);
  const spent = {
    tokensIn: countOf(usage.prompt_tokens),
    tokensOut: countOf(usage.completion_tokens),
  };
  const value = taskType === 'embedding' ? vectorOf(body) : answerOf(body);
  if (typeof value !== 'string') return { id, isOk: true, value, ...spent };
  return { id, isOk: false, error: value, isRetryable: false };
}

/** The response, or what is wrong with it. */
function answerOf(body: JsonObject): JsonObject | string {
  const [choice] = listOf(body.choices);
  const message = objectOf(choice?.message);
  if (textOf(message.refusal) !== undefined) return 'the model refused to answer';
  if (choice?.finish_reason === 'length') return 'the model ended in the middle of its answer';
  return typeof message.content === 'string'
    ? { text: message.content }
    : 'the model answered without content';
}

function vectorOf(body: JsonObject): JsonObject | string {
  const vector: unknown = listOf(body.data)[0]?.embedding;
  const isVector = Array.isArray(vector) && vector.length > 0 && vector.every(Number.isFinite);
  if (!isVector) return 'the vector is not made of finite numbers';
  return vector.some((value) => value !== 0) ? { vector } : 'the vector is all zero';
}
