/**
 * Google Speech v2: long-running operations of batch recognition, and the token exchange. The
 * fields are those of `google/cloud/speech/v2/cloud_speech.proto` (`docs/verified.md`).
 */
import { type Call, ProviderServer, type Reply, unknownFields } from './provider-server.ts';

interface Operation {
  readonly name: string;
  readonly request: {
    readonly files: { uri: string }[];
    readonly config: { model: string; languageCodes: string[] };
    readonly recognitionOutputConfig?: { inlineResponseConfig?: object };
  };
  readonly createTime: string;
  polls: number;
  isCanceled: boolean;
}

const parent = 'projects/p/locations/global';

export class GoogleServer {
  readonly operations = new Map<string, Operation>();
  pollsToGo = 2;
  pageSize = 2;
  now: () => number = () => Date.now();
  isFailed = false;
  transcribe: (uri: string) => string | undefined = (uri) => `words of ${uri}`;
  readonly server: ProviderServer = new ProviderServer([
    [/^POST \/token$/, () => ({ body: { access_token: 'token-of-google', expires_in: 3600 } })],
    [/^POST \/v2\/.*\/recognizers\/_:batchRecognize$/, (call) => this.#begin(call)],
    [/^GET \/v2\/.*\/operations$/, (call) => this.#list(call.query)],
    [/^GET \/v2\/(.*\/operations\/\d+)$/, (_, [, name]) => this.#get(name)],
    [/^POST \/v2\/(.*\/operations\/\d+):cancel$/, (_, [, name]) => this.#cancel(name)],
  ]);

  #begin(call: Call): Reply {
    if (call.headers.authorization !== 'Bearer token-of-google') return { status: 401 };
    const request = call.json() as unknown as Operation['request'];
    const problem = problemOf(request);
    if (problem) return invalid(problem);
    const isInline = request.recognitionOutputConfig?.inlineResponseConfig !== undefined;
    if (isInline && request.files.length !== 1) {
      return invalid('inline_response_config is only supported with just one audio file');
    }
    const name = `${parent}/operations/${this.operations.size + 1}`;
    const createTime = new Date(this.now()).toISOString();
    this.operations.set(name, { name, request, createTime, polls: 0, isCanceled: false });
    return { body: { name, done: false } };
  }

  #list(query: URLSearchParams): Reply {
    const all = [...this.operations.values()].reverse();
    const start = Number(query.get('pageToken') ?? 0);
    const end = start + this.pageSize;
    const operations = all.slice(start, end).map(({ name, request, createTime }) => ({
      name,
      metadata: { createTime, batchRecognizeRequest: request },
    }));
    return { body: { operations, ...(end < all.length && { nextPageToken: String(end) }) } };
  }

  #get(name = ''): Reply {
    const operation = this.operations.get(name);
    if (!operation) return { status: 404, body: { error: { code: 404, message: 'not found' } } };
    operation.polls += 1;
    if (operation.isCanceled) {
      return { body: { name, done: true, error: { code: 1, message: 'cancelled' } } };
    }
    if (operation.polls <= this.pollsToGo) return { body: { name, done: false } };
    if (this.isFailed) {
      return { body: { name, done: true, error: { code: 3, message: 'bad config' } } };
    }
    const results = operation.request.files.map(({ uri }) => {
      const transcript = this.transcribe(uri);
      const alternatives = [{ transcript }];
      return transcript === undefined
        ? [uri, { error: { code: 3, message: 'audio cannot be read' } }]
        : [
            uri,
            {
              // Success has the code 0, which JSON omits.
              error: {},
              inlineResult: { transcript: { results: [{ alternatives }] } },
              metadata: { totalBilledDuration: '4.12s' },
            },
          ];
    });
    return { body: { name, done: true, response: { results: Object.fromEntries(results) } } };
  }

  #cancel(name = ''): Reply {
    const operation = this.operations.get(name);
    if (!operation) return { status: 404 };
    operation.isCanceled = true;
    return { body: {} };
  }
}

const known = {
  request: ['config', 'configMask', 'files', 'recognitionOutputConfig', 'processingStrategy'],
  config: [
    ...['autoDecodingConfig', 'explicitDecodingConfig', 'model', 'languageCodes', 'features'],
    ...['adaptation', 'transcriptNormalization', 'translationConfig', 'denoiserConfig'],
  ],
  file: ['uri', 'config', 'configMask'],
  output: ['gcsOutputConfig', 'inlineResponseConfig', 'outputFormatConfig'],
};

function problemOf(request: Operation['request']): string | undefined {
  const [strange] = [
    ...unknownFields(request, known.request),
    ...unknownFields(request.config, known.config),
    ...request.files.flatMap((file) => unknownFields(file, known.file)),
    ...unknownFields(request.recognitionOutputConfig, known.output),
  ];
  if (strange !== undefined) return `Invalid JSON payload received. Unknown name "${strange}"`;
  if (request.config.languageCodes.length === 0) return 'language_codes must not be empty';
  return request.files.every(({ uri }) => uri.startsWith('gs://'))
    ? undefined
    : 'audio files must be in Cloud Storage';
}

function invalid(message: string): Reply {
  return { status: 400, body: { error: { code: 400, status: 'INVALID_ARGUMENT', message } } };
}
