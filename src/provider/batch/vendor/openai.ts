/**
 * OpenAI batches: the requests are uploaded as a file of lines, the responses come as another, and
 * failed ones as a third. A batch has our token in its metadata, and is recognized by it in the
 * list.
 */
import type { Saying } from '../../../kernel/batch-decision.ts';
import type { JsonObject } from '../../../kernel/provider-state.ts';
import { countOf, listOf, needText, objectOf, sayingOf, textOf } from '../answer.ts';
import type { BatchProvider, BatchRequest, NewBatchJob, ResultLine } from '../batch-provider.ts';
import type { Endpoint } from '../endpoint.ts';
import { gatherLines } from '../gather.ts';
import * as kit from '../kit.ts';

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
      const path = '/batches?limit=100';
      const next = ({ has_more: hasMore, data }: JsonObject): string | undefined => {
        const last = textOf(listOf(data).at(-1)?.id);
        return hasMore === true && last ? `${path}&after=${encodeURIComponent(last)}` : undefined;
      };
      const found = await kit.findEntry(
        kit.entriesOf(endpoint, { path, field: 'data', next }, signal),
        // A failed batch never ran and is not charged: it may be submitted again.
        ({ metadata, status }) => objectOf(metadata).pawl_token === token && status !== 'failed',
      );
      return found && needText(found.id, 'id');
    },
    submit: async (job, context) => {
      const { signal } = context;
      const send = (): Promise<string> => upload(endpoint, job, signal);
      const body = {
        input_file_id: await kit.notedOnce(context, 'input_file_id', send),
        endpoint: routes[job.taskType],
        completion_window: '24h',
        metadata: { pawl_token: job.token },
      };
      return needText((await endpoint.json('/batches', { body, signal })).id, 'id');
    },
    ...kit.jobCalls(endpoint, {
      list: ['/batches?limit=1', 'batches'],
      path: pathOf,
      id: 'id',
      cancelPath: (id) => `${pathOf(id)}/cancel`,
      read: (answer, { taskType }, signal) => {
        const problems = listOf(objectOf(answer.errors).data);
        const hasNoRoom = problems.some(({ code }) => code === 'token_limit_exceeded');
        const paths = [answer.output_file_id, answer.error_file_id].map(contentPathOf);
        const read = lineReaders(taskType);
        return {
          said: hasNoRoom ? 'postponed' : sayingOf(words, answer.status),
          detail: textOf(problems[0]?.message) ?? textOf(answer.status),
          results: () => kit.linesAt(endpoint, paths, { read, signal }),
        };
      },
    }),
  };
}

const pathOf = (id: string): string => `/batches/${encodeURIComponent(id)}`;

function contentPathOf(value: unknown): string | undefined {
  const file = textOf(value);
  return file && `/files/${encodeURIComponent(file)}/content`;
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

const lineReaders = (taskType: string) =>
  kit.lineReader('custom_id', (id, line): ResultLine => {
    const response = objectOf(line.response);
    const body = objectOf(response.body);
    const status = String(response.status_code ?? '');
    if (status !== '200') {
      const problem = { ...objectOf(body.error), ...objectOf(line.error) };
      const error = textOf(problem.message) ?? `status ${status || 'unknown'}`;
      return kit.failedLine(id, error, retryable.test(status) || unbegun.includes(problem.code));
    }
    const value = taskType === 'embedding' ? vectorOf(body) : answerOf(body);
    if (typeof value === 'string') return kit.failedLine(id, value);
    const usage = objectOf(body.usage);
    const tokensIn = countOf(usage.prompt_tokens);
    return { id, isOk: true, value, tokensIn, tokensOut: countOf(usage.completion_tokens) };
  });

/** The response, or what is wrong with it. */
function answerOf(body: JsonObject): JsonObject | string {
  const [choice] = listOf(body.choices);
  const message = objectOf(choice?.message);
  if (textOf(message.refusal) !== undefined) return 'the model refused to answer';
  if (choice?.finish_reason === 'length') return 'the model ended in the middle of its answer';
  if (choice?.finish_reason === 'content_filter') return 'a content filter cut the answer';
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
