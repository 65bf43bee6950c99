/**
 * Gemini's files and batches. Fields and states are those that its package for JavaScript sends and
 * reads (`docs/verified.md`).
 */
import { type Call, ProviderServer, type Reply, unknownFields } from './provider-server.ts';

interface Batch {
  readonly name: string;
  readonly displayName: string;
  readonly lines: { key: string; request: { contents: { parts: { text: string }[] }[] } }[];
  polls: number;
  isCanceled: boolean;
}

export class GeminiServer {
  readonly files = new Map<string, string>();
  readonly batches = new Map<string, Batch>();
  pollsToGo = 2;
  /** The host in its links, if it differs from its address. */
  host: string | undefined;
  pageSize = 2;
  lastState = 'BATCH_STATE_SUCCEEDED';
  /** Undefined: an error. */
  answer: (key: string) => string | undefined = (key) => `response to ${key}`;
  readonly server: ProviderServer = new ProviderServer([
    [/^POST \/upload\/v1beta\/files$/, () => this.#place()],
    [/^POST \/upload\/v1beta\/files\/(\d+)$/, (call, [, id]) => this.#upload(call, id)],
    [/^POST \/v1beta\/models\/([\w.-]+):batchGenerateContent$/, (call) => this.#create(call)],
    [/^GET \/v1beta\/batches$/, (call) => this.#list(call.query)],
    [/^GET \/v1beta\/(batches\/\d+)$/, (_, [, name]) => this.#get(name)],
    [/^POST \/v1beta\/(batches\/\d+):cancel$/, (_, [, name]) => this.#cancel(name)],
    [/^GET \/download\/v1beta\/(files\/[\w-]+):download$/, (_, [, name]) => this.#output(name)],
  ]);

  #place(): Reply {
    const url = `${this.host ?? this.server.url}/upload/v1beta/files/${this.files.size + 1}`;
    return { headers: { 'x-goog-upload-url': url }, body: '' };
  }

  #upload(call: Call, id = ''): Reply {
    if (call.headers['x-goog-upload-command'] !== 'upload, finalize') return { status: 400 };
    this.files.set(`files/${id}`, call.body.toString());
    return { body: { file: { name: `files/${id}`, state: 'ACTIVE' } } };
  }

  #create(call: Call): Reply {
    const body = call.json();
    const { batch } = body as {
      batch: { displayName: string; inputConfig: { fileName: string } };
    };
    const [strange] = [
      ...unknownFields(body, ['batch']),
      ...unknownFields(batch, ['displayName', 'inputConfig', 'webhookConfig']),
      ...unknownFields(batch.inputConfig, ['fileName', 'requests']),
    ];
    if (strange !== undefined) {
      return invalid(`Invalid JSON payload received. Unknown name "${strange}"`);
    }
    if (!this.files.has(batch.inputConfig.fileName)) return invalid('the file does not exist');
    const name = `batches/${this.batches.size + 1}`;
    const text = this.files.get(batch.inputConfig.fileName) ?? '';
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    if (lines.some((line) => !isRequest(line))) return invalid('a line of the file is no request');
    const { displayName } = batch;
    this.batches.set(name, { name, displayName, lines, polls: 0, isCanceled: false });
    return { body: { name, metadata: { state: 'BATCH_STATE_PENDING', displayName } } };
  }

  #list(query: URLSearchParams): Reply {
    const all = [...this.batches.values()].reverse();
    const start = Number(query.get('pageToken') ?? 0);
    const end = start + this.pageSize;
    const operations = all
      .slice(start, end)
      .map(({ name, displayName }) => ({ name, metadata: { displayName } }));
    return { body: { operations, ...(end < all.length && { nextPageToken: String(end) }) } };
  }

  #get(name = ''): Reply {
    const batch = this.batches.get(name);
    if (!batch) return { status: 404, body: { error: { code: 404, message: 'not found' } } };
    batch.polls += 1;
    const early = batch.polls === 1 ? 'BATCH_STATE_PENDING' : 'BATCH_STATE_RUNNING';
    const last = batch.isCanceled ? 'BATCH_STATE_CANCELLED' : this.lastState;
    const isEarly = batch.polls <= this.pollsToGo && !batch.isCanceled;
    const state = isEarly ? early : last;
    const hasOutput = state === 'BATCH_STATE_SUCCEEDED';
    const file = `files/out-${name.split('/')[1]}`;
    return {
      body: {
        name,
        metadata: { state, displayName: batch.displayName },
        done: !isEarly,
        ...(hasOutput && { response: { responsesFile: file } }),
        ...(state === 'BATCH_STATE_FAILED' && { error: { code: 3, message: 'bad file' } }),
      },
    };
  }

  #cancel(name = ''): Reply {
    const batch = this.batches.get(name);
    if (!batch) return { status: 404 };
    batch.isCanceled = true;
    return { body: {} };
  }

  #output(name = ''): Reply {
    const batch = this.batches.get(`batches/${name.replace('files/out-', '')}`);
    const lines = (batch?.lines ?? []).map(({ key }) => {
      const text = this.answer(key);
      if (text === undefined) return { key, error: { code: 3, message: 'blocked' } };
      const usageMetadata = {
        ...{ promptTokenCount: 100, candidatesTokenCount: 20, thoughtsTokenCount: 300 },
        totalTokenCount: 420,
      };
      if (text === 'blocked') {
        return { key, response: { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata } };
      }
      const parts = [{ text: 'let me think', thought: true }, { text }];
      const candidates = [{ finishReason: 'STOP', content: { parts } }];
      return { key, response: { candidates, usageMetadata } };
    });
    return {
      body: lines
        .reverse()
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    };
  }
}

const known = {
  line: ['key', 'request'],
  request: [
    ...['contents', 'systemInstruction', 'generationConfig', 'safetySettings', 'tools'],
    ...['toolConfig', 'cachedContent'],
  ],
};

function isRequest(line: { key?: unknown; request?: unknown }): boolean {
  const strange = [
    ...unknownFields(line, known.line),
    ...unknownFields(line.request, known.request),
  ];
  return typeof line.key === 'string' && strange.length === 0;
}

function invalid(message: string): Reply {
  return { status: 400, body: { error: { code: 400, status: 'INVALID_ARGUMENT', message } } };
}
