/** Anthropic's message batches, as their API reference describes them. */
import { type Call, ProviderServer, type Reply, unknownFields } from './provider-server.ts';

interface Batch {
  readonly id: string;
  readonly requests: { custom_id: string; params: { model: string; max_tokens: number } }[];
  polls: number;
  isCanceled: boolean;
}

export type Outcome = string | 'expired' | undefined;

export class AnthropicServer {
  readonly batches = new Map<string, Batch>();
  pollsToGo = 2;
  /** The host in its links, if it differs from its address. */
  host: string | undefined;
  stopReason = 'end_turn';
  /** Undefined: an error; `expired`: not in time. */
  answer: (id: string) => Outcome = (id) => `response to ${id}`;
  readonly server: ProviderServer = new ProviderServer([
    [/^POST \/v1\/messages\/batches$/, (call) => this.#create(call)],
    [/^GET \/v1\/messages\/batches\/([\w-]+)$/, (_, [, id]) => this.#get(id)],
    [/^GET \/v1\/messages\/batches\/([\w-]+)\/results$/, (_, [, id]) => this.#results(id)],
    [/^POST \/v1\/messages\/batches\/([\w-]+)\/cancel$/, (_, [, id]) => this.#cancel(id)],
  ]);

  #create(call: Call): Reply {
    const id = `msgbatch_${this.batches.size + 1}`;
    const { requests } = call.json() as unknown as Batch;
    const isWhole = requests.every(({ params }) => Number.isInteger(params.max_tokens));
    if (!isWhole) return refused('requests.0.params.max_tokens: Field required');
    const ids = requests.map(({ custom_id }) => custom_id);
    if (new Set(ids).size < ids.length) return refused('requests: custom_id must be unique');
    if (!ids.every((each) => /^[\w-]{1,64}$/.test(each))) return refused('custom_id: bad pattern');
    const [strange] = requests.flatMap(({ custom_id, params, ...more }) => [
      ...Object.keys(more),
      ...unknownFields(params, knownParameters),
    ]);
    if (strange !== undefined) return refused(`${strange}: Extra inputs are not permitted`);
    this.batches.set(id, { id, requests, polls: 0, isCanceled: false });
    return { body: { id, type: 'message_batch', processing_status: 'in_progress' } };
  }

  #get(id = ''): Reply {
    const batch = this.batches.get(id);
    if (!batch) {
      const error = { type: 'not_found_error', message: 'no such batch' };
      return { status: 404, body: { type: 'error', error } };
    }
    batch.polls += 1;
    const isEarly = batch.polls <= this.pollsToGo && !batch.isCanceled;
    const url = `${this.host ?? this.server.url}/v1/messages/batches/${id}/results`;
    return {
      body: {
        id,
        processing_status: isEarly ? 'in_progress' : 'ended',
        results_url: isEarly ? null : url,
      },
    };
  }

  #cancel(id = ''): Reply {
    const batch = this.batches.get(id);
    if (!batch) return { status: 404 };
    batch.isCanceled = true;
    return { body: { id, processing_status: 'canceling' } };
  }

  #results(id = ''): Reply {
    const lines = (this.batches.get(id)?.requests ?? []).map(({ custom_id }) => {
      const text = this.answer(custom_id);
      const error = { type: 'error', error: { type: 'invalid_request_error', message: 'no' } };
      const message = {
        content: [{ type: 'text', text }],
        stop_reason: this.stopReason,
        usage: { input_tokens: 100, output_tokens: 20 },
      };
      const result =
        text === undefined
          ? { type: 'errored', error }
          : text === 'expired'
            ? { type: 'expired' }
            : { type: 'succeeded', message };
      return { custom_id, result };
    });
    return {
      body: lines
        .reverse()
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    };
  }
}

function refused(message: string): Reply {
  return {
    status: 400,
    body: { type: 'error', error: { type: 'invalid_request_error', message } },
  };
}

const knownParameters = [
  ...['model', 'max_tokens', 'messages', 'system', 'tools', 'tool_choice', 'metadata', 'thinking'],
  ...['stop_sequences', 'temperature', 'top_k', 'top_p', 'service_tier', 'output_config'],
];
