/**
 * Anthropic's message batches. A batch takes no name of ours, and its list does not show the
 * requests: after a crash between its response and our commit it cannot be recognized, and the next
 * try submits a second one.
 */
import type { JsonObject } from '../../../kernel/provider-state.ts';
import {
  checkSame,
  countOf,
  listOf,
  needText,
  objectOf,
  readLines,
  sayingOfError,
  textOf,
} from '../answer.ts';
import type {
  BatchJobRef,
  BatchProvider,
  BatchRequest,
  PollAnswer,
  ResultLine,
} from '../batch-provider.ts';
import type { Endpoint } from '../endpoint.ts';
import { gatherLines } from '../gather.ts';

const batches = '/v1/messages/batches';

/** The interface requires a token limit per response, and models differ in their maximum. */
export function anthropicBatches(endpoint: Endpoint, answerTokens: number): BatchProvider {
  return {
    name: 'ANTHROPIC',
    taskTypes: ['completion'],
    split: 'model',
    merge: 'by_model',
    models: /^(?:anthropic:|claude-)/,
    recognizedBy: 'none',
    find: async () => undefined,
    submit: async (job, { signal }) => {
      const model = job.model?.replace(/^anthropic:/, '');
      const lines = await gatherLines(job.requests(), (request) => ({
        custom_id: request.custom_id,
        params: { max_tokens: answerTokens, ...paramsOf(model, request) },
      }));
      // The lines are JSON objects: joined by commas they are the list.
      const list = Buffer.from(lines).toString().trimEnd().replaceAll('\n', ',');
      const body = new TextEncoder().encode(`{"requests":[${list}]}`);
      const headers = { 'content-type': 'application/json' };
      return needText((await endpoint.json(batches, { body, headers, signal })).id, 'id');
    },
    check: async (signal) => {
      await endpoint.json(`${batches}?limit=1`, { signal });
      return 'its list of batches was asked for';
    },
    poll: (job, signal) => poll(endpoint, job, signal),
    cancel: async ({ externalId }, signal) => {
      const path = `${batches}/${encodeURIComponent(externalId)}/cancel`;
      await endpoint.text(path, { method: 'POST', signal });
      return true;
    },
  };
}

/** Structured output is requested as the input of a mandatory tool. */
function paramsOf(model: string | undefined, request: BatchRequest): JsonObject {
  const { instruction, input, schema, schema_name: name = 'answer' } = request;
  return {
    model,
    ...(instruction !== undefined && { system: instruction }),
    messages: [{ role: 'user', content: input }],
    ...(schema && {
      tools: [{ name, description: 'Takes the answer.', input_schema: schema }],
      tool_choice: { type: 'tool', name },
    }),
  };
}

async function poll(
  endpoint: Endpoint,
  { externalId }: BatchJobRef,
  signal: AbortSignal,
): Promise<PollAnswer> {
  try {
    const path = `${batches}/${encodeURIComponent(externalId)}`;
    const answer = await endpoint.json(path, { signal });
    checkSame(answer.id, externalId);
    const status = textOf(answer.processing_status);
    if (status === 'in_progress' || status === 'canceling') return { said: 'running' };
    if (status !== 'ended') return { said: 'unknown', detail: status };
    // There is a single end state: each line has the result of its request.
    const link = textOf(answer.results_url);
    return { said: 'completed', results: () => resultsOf(endpoint, link, signal) };
  } catch (error) {
    return sayingOfError(error);
  }
}

async function* resultsOf(
  endpoint: Endpoint,
  link: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<ResultLine, void> {
  if (link !== undefined) yield* readLines(endpoint.bytes(link, { signal }), lineOf);
}

const refusedTypes: readonly unknown[] = ['invalid_request_error', 'authentication_error'];

function lineOf(line: JsonObject): ResultLine {
  const id = textOf(line.custom_id);
  if (id === undefined) return { id: undefined, odd: 'a line without custom_id' };
  const result = objectOf(line.result);
  const { type } = result;
  if (type === 'expired' || type === 'canceled') {
    return { id, isOk: false, error: `it ${type} before its turn`, isRetryable: true };
  }
  if (type !== 'succeeded') {
    const problem = objectOf(objectOf(result.error).error ?? result.error);
    const error = textOf(problem.message) ?? `a result of type ${String(type)}`;
    return { id, isOk: false, error, isRetryable: !refusedTypes.includes(problem.type) };
  }
  const message = objectOf(result.message);
  const text = answerOf(message);
  if (text === undefined || message.stop_reason === 'max_tokens') {
    const isCut = message.stop_reason === 'max_tokens';
    const advice = isCut ? ': raise max_tokens in the entry of its provider' : '';
    const error = `the model ended with ${String(message.stop_reason)}${advice}`;
    return { id, isOk: false, error, isRetryable: false };
  }
  const usage = objectOf(message.usage);
  const tokensIn = countOf(usage.input_tokens);
  return { id, isOk: true, value: { text }, tokensIn, tokensOut: countOf(usage.output_tokens) };
}

function answerOf({ content }: JsonObject): string | undefined {
  const parts = listOf(content);
  const tool = parts.find(({ type }) => type === 'tool_use');
  if (tool) return JSON.stringify(tool.input);
  const texts = parts.flatMap((part) => textOf(part.text) ?? []);
  return texts.length > 0 ? texts.join('') : undefined;
}
