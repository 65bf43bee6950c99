/** OpenAI's files and batches, as their API reference describes them. */
import type { Cleanup } from '../temporary.ts';
import { type Call, ProviderServer, type Reply, unknownFields } from './provider-server.ts';

export interface BatchLine {
  readonly custom_id: string;
  readonly url: string;
  readonly body: { readonly model: string; readonly input?: string } & Record<string, unknown>;
}

interface Batch {
  readonly id: string;
  readonly input_file_id: string;
  readonly metadata: unknown;
  polls: number;
  isCanceled: boolean;
  /** Its final status. */
  ended?: string;
  /** Polls since the cancel request. */
  cancelPolls?: number;
}

export type LineOutcome =
  | { readonly content: string; readonly finish?: string }
  | { readonly vector: readonly unknown[] }
  | { readonly status: number; readonly message: string }
  | 'missing'
  | 'expired'
  | 'cancelled';

export class OpenaiServer {
  readonly files = new Map<string, string>();
  readonly batches = new Map<string, Batch>();
  pollsToGo = 2;
  lastStatus = 'completed';
  /** Polls that return `cancelling` after a cancel. */
  cancelPollsToGo = 0;
  /** Which lines a batch has answered when it is canceled. */
  isDoneAtCancel: (line: BatchLine) => boolean = () => false;
  /** Errors of a batch whose last status is `failed`. */
  errors: readonly Record<string, unknown>[] = [
    { code: 'invalid', message: 'the file has no valid line' },
  ];
  pageSize = 2;
  /** The outcome of a line. */
  answer: (line: BatchLine) => LineOutcome = (line) =>
    line.url === '/v1/embeddings'
      ? { vector: [0.1, -0.2, 0.3] }
      : { content: `response to ${line.custom_id}` };
  /** Rewrites the file of responses. */
  rewrite: (output: string) => string | Uint8Array = (output) => output;
  readonly server = new ProviderServer([
    [/^POST \/v1\/files$/, (call) => this.#upload(call)],
    [/^GET \/v1\/files\/([\w-]+)\/content$/, (_, [, id]) => this.#content(id)],
    [/^POST \/v1\/batches$/, (call) => this.#create(call)],
    [/^GET \/v1\/batches$/, (call) => this.#list(call.query)],
    [/^GET \/v1\/batches\/([\w-]+)$/, (_, [, id]) => this.#get(id)],
    [/^POST \/v1\/batches\/([\w-]+)\/cancel$/, (_, [, id]) => this.#cancel(id)],
  ]);

  start(t: Cleanup): Promise<unknown> {
    return this.server.start(t);
  }

  get url(): string {
    return `${this.server.url}/v1`;
  }

  lines(batch: Pick<Batch, 'input_file_id'>): BatchLine[] {
    const text = this.files.get(batch.input_file_id) ?? '';
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  }

  #upload(call: Call): Reply {
    const boundary = /boundary=(.+)$/.exec(call.headers['content-type'] ?? '')?.[1] ?? '';
    const parts = call.body.toString().split(`--${boundary}`);
    const file = parts.find((part) => part.includes('name="file"')) ?? '';
    const isBatch = parts.some((part) => /name="purpose"\r\n\r\nbatch\r\n/.test(part));
    if (!isBatch) return { status: 400, body: { error: { message: 'purpose is missing' } } };
    const id = `file-${this.files.size + 1}`;
    this.files.set(id, file.slice(file.indexOf('\r\n\r\n') + 4, -2));
    return { body: { id, object: 'file', purpose: 'batch' } };
  }

  #create(call: Call): Reply {
    const asked = call.json();
    const problem = problemOf(asked, this.files);
    if (problem) {
      return { status: 400, body: { error: { message: problem, type: 'invalid_request_error' } } };
    }
    const { input_file_id, metadata } = asked as unknown as Batch;
    const id = `batch_${this.batches.size + 1}`;
    const batch = { id, input_file_id, metadata, polls: 0, isCanceled: false };
    this.batches.set(id, batch);
    return { body: this.#shape(batch, 'validating') };
  }

  #shape(batch: Batch, status: string): Record<string, unknown> {
    const { id, metadata, input_file_id } = batch;
    const hasOutput = ['completed', 'expired', 'cancelled'].includes(status);
    const output = hasOutput ? this.#outputs(batch) : {};
    const errors = { object: 'list', data: this.errors };
    return {
      id,
      object: 'batch',
      status,
      metadata,
      input_file_id,
      ...(status === 'failed' && { errors }),
      ...output,
    };
  }

  #outputs(batch: Batch): Record<string, string> {
    const lines = this.lines(batch).reverse();
    const outcomeOf = (line: BatchLine): LineOutcome =>
      batch.isCanceled && !this.isDoneAtCancel(line) ? 'cancelled' : this.answer(line);
    const outcomes = lines.map((line) => [line, outcomeOf(line)] as const);
    const good = outcomes.flatMap(([line, outcome]) => this.#line(line, outcome, true));
    const bad = outcomes.flatMap(([line, outcome]) => this.#line(line, outcome, false));
    const ids: Record<string, string> = {};
    if (good.length > 0) {
      ids.output_file_id = `out-${batch.id}`;
      this.files.set(ids.output_file_id, `${good.join('\n')}\n`);
    }
    if (bad.length > 0) {
      ids.error_file_id = `err-${batch.id}`;
      this.files.set(ids.error_file_id, `${bad.join('\n')}\n`);
    }
    return ids;
  }

  #line(line: BatchLine, outcome: LineOutcome, isGood: boolean): string[] {
    if (outcome === 'missing') return [];
    const { custom_id } = line;
    if (outcome === 'expired' || outcome === 'cancelled') {
      const error = { code: `batch_${outcome}`, message: 'not executed' };
      return isGood ? [] : [JSON.stringify({ custom_id, response: null, error })];
    }
    if ('status' in outcome) {
      const { status, message } = outcome;
      const response = { status_code: status, body: { error: { message } } };
      return isGood ? [] : [JSON.stringify({ custom_id, response, error: null })];
    }
    const usage = { prompt_tokens: 100, completion_tokens: 20 };
    const body =
      'vector' in outcome
        ? { data: [{ index: 0, embedding: outcome.vector }], usage: { prompt_tokens: 100 } }
        : { choices: [choiceOf(outcome)], usage };
    const response = { status_code: 200, request_id: 'r', body };
    return isGood ? [JSON.stringify({ id: 'x', custom_id, response, error: null })] : [];
  }

  #list(query: URLSearchParams): Reply {
    const all = [...this.batches.values()].reverse();
    const after = all.findIndex(({ id }) => id === query.get('after')) + 1;
    const data = all.slice(after, after + this.pageSize);
    const has_more = after + this.pageSize < all.length;
    const shapes = data.map((each) => this.#shape(each, each.ended ?? 'in_progress'));
    return { body: { object: 'list', data: shapes, has_more } };
  }

  #get(id = ''): Reply {
    const batch = this.batches.get(id);
    if (!batch) return { status: 404, body: { error: { message: `no batch ${id}` } } };
    batch.polls += 1;
    return { body: this.#shape(batch, this.#statusOf(batch)) };
  }

  #statusOf(batch: Batch): string {
    if (batch.ended !== undefined) return batch.ended;
    if (batch.isCanceled) {
      batch.cancelPolls = (batch.cancelPolls ?? 0) + 1;
      if (batch.cancelPolls <= this.cancelPollsToGo) return 'cancelling';
      batch.ended = 'cancelled';
    } else if (batch.polls <= this.pollsToGo) {
      return batch.polls === 1 ? 'validating' : 'in_progress';
    } else {
      batch.ended = this.lastStatus;
    }
    return batch.ended;
  }

  #cancel(id = ''): Reply {
    const batch = this.batches.get(id);
    if (!batch) return { status: 404 };
    if (batch.ended !== undefined) {
      const message = `Cannot cancel a batch with status '${batch.ended}'.`;
      return { status: 409, body: { error: { message, type: 'invalid_request_error' } } };
    }
    batch.isCanceled = true;
    return { body: this.#shape(batch, 'cancelling') };
  }

  /** Every request by its content, with how many batches were charged for it. */
  charges(): Map<string, number> {
    const charged = new Map<string, number>();
    for (const batch of this.batches.values()) {
      for (const line of this.lines(batch)) {
        if (batch.ended === 'failed') continue;
        if (batch.isCanceled && !this.isDoneAtCancel(line)) continue;
        const content = JSON.stringify(line.body);
        charged.set(content, (charged.get(content) ?? 0) + 1);
      }
    }
    return charged;
  }

  #content(id = ''): Reply {
    const text = this.files.get(id);
    if (text === undefined) return { status: 404 };
    return { body: id.startsWith('out-') ? this.rewrite(text) : text };
  }
}

function choiceOf({ content, finish = 'stop' }: { content: string; finish?: string }): object {
  return { index: 0, finish_reason: finish, message: { role: 'assistant', content } };
}

const known = {
  fields: [
    ...['input_file_id', 'endpoint', 'completion_window', 'metadata', 'output_expires_after'],
  ],
  endpoints: ['/v1/responses', '/v1/chat/completions', '/v1/embeddings', '/v1/completions'],
};

function problemOf(
  asked: Readonly<Record<string, unknown>>,
  files: ReadonlyMap<string, string>,
): string | undefined {
  const [strange] = unknownFields(asked, known.fields);
  if (strange !== undefined) return `Unknown parameter: '${strange}'.`;
  if (!known.endpoints.includes(String(asked.endpoint))) return 'Invalid endpoint.';
  if (asked.completion_window !== '24h') return "Invalid value for 'completion_window'.";
  return files.has(String(asked.input_file_id)) ? undefined : 'No such File object.';
}
