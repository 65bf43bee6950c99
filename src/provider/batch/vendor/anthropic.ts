/**
 * Anthropic's message batches. A batch takes no name of ours, and its list does not show the
 * requests: after a crash between its response and our commit it cannot be recognized, and the next
 * try submits a second one.
 */
import type { JsonObject } from '../../../kernel/provider-state.ts';
import { countOf, listOf, needText, objectOf, textOf } from '../answer.ts';
import type { BatchProvider, BatchRequest, ResultLine } from '../batch-provider.ts';
import type { Endpoint } from '../endpoint.ts';
import { gatherLines } from '../gather.ts';
import { failedLine, jobCalls, lineReader, linesAt } from '../kit.ts';

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
    ...jobCalls(endpoint, {
      list: [`${batches}?limit=1`, 'batches'],
      path: pathOf,
      id: 'id',
      cancelPath: (id) => `${pathOf(id)}/cancel`,
      read: (answer, _, signal) => {
        const status = textOf(answer.processing_status);
        if (status === 'in_progress' || status === 'canceling') return { said: 'running' };
        if (status !== 'ended') return { said: 'unknown', detail: status };
        // It ends in one way only: what became of each request stands in its line.
        const links = [textOf(answer.results_url)];
        return { said: 'completed', results: () => linesAt(endpoint, links, { read, signal }) };
      },
    }),
  };
}

const pathOf = (id: string): string => `${batches}/${encodeURIComponent(id)}`;

/** An answer of a given form is asked for as the input of a tool that must be used. */
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

const refusedTypes: readonly unknown[] = ['invalid_request_error', 'authentication_error'];

/** Any other reason, such as `max_tokens` or `refusal`, leaves the answer incomplete. */
const wholeReasons: readonly unknown[] = ['end_turn', 'stop_sequence', 'tool_use'];

const read = lineReader('custom_id', (id, line): ResultLine => {
  const result = objectOf(line.result);
  const { type } = result;
  if (type === 'expired' || type === 'canceled') {
    return failedLine(id, `it ${type} before its turn`, true);
  }
  if (type !== 'succeeded') {
    const problem = objectOf(objectOf(result.error).error ?? result.error);
    const error = textOf(problem.message) ?? `a result of type ${String(type)}`;
    return failedLine(id, error, !refusedTypes.includes(problem.type));
  }
  const message = objectOf(result.message);
  const text = answerOf(message);
  if (text === undefined || !wholeReasons.includes(message.stop_reason)) {
    const isCut = message.stop_reason === 'max_tokens';
    const advice = isCut ? ': raise max_tokens in the entry of its provider' : '';
    return failedLine(id, `the model ended with ${String(message.stop_reason)}${advice}`);
  }
  const usage = objectOf(message.usage);
  const tokensIn = countOf(usage.input_tokens);
  return { id, isOk: true, value: { text }, tokensIn, tokensOut: countOf(usage.output_tokens) };
});

function answerOf({ content }: JsonObject): string | undefined {
  const parts = listOf(content);
  const tool = parts.find(({ type }) => type === 'tool_use');
  if (tool) return JSON.stringify(tool.input);
  const texts = parts.flatMap((part) => textOf(part.text) ?? []);
  return texts.length > 0 ? texts.join('') : undefined;
}
