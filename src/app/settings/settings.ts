/** All settings in one table: variable, flag, valid values and meaning. */
import { limits } from '../../kernel/limits/limits.ts';
import { embedderVendors, vendorModel } from '../../kernel/name/embedder-vendor.ts';
import {
  list,
  type PaceSetting,
  parsePace,
  parsePrices,
  wholeFromOne,
  wholeNumber,
} from './forms.ts';
import { type ModelConfig, modelSettings } from './model.ts';
import { type RateConfig, rateSettings } from './rate.ts';
import { type RedisConfig, redisSettings } from './redis.ts';
import { type ServiceConfig, serviceSettings } from './service.ts';
import { type SinkConfig, sinkSettings } from './sink.ts';

export interface Config extends ModelConfig, RateConfig, RedisConfig, ServiceConfig, SinkConfig {
  readonly data: string;
  readonly corpus: string;
  readonly host: string;
  readonly port: number;
  readonly key: string | undefined;
  readonly webhookSecret: string | undefined;
  readonly otlpUrl: string | undefined;
  readonly databaseUrl: string | undefined;
  readonly workers: number | undefined;
  readonly allowHosts: readonly string[] | undefined;
  readonly apiKeys: readonly string[] | undefined;
  readonly internalKey: string | undefined;
  readonly internalCallerIds: readonly string[] | undefined;
  readonly membershipUrl: string | undefined;
  readonly extractor: string;
  readonly extractorUrl: string | undefined;
  readonly extractorKey: string | undefined;
  readonly extractorPrice: { readonly input: number; readonly output: number } | undefined;
  readonly extractorRequests: number;
  readonly extractorTokens: number;
  readonly browser: string;
  readonly render: 'needed' | 'always';
  readonly pace: PaceSetting | undefined;
  readonly embedder: string;
  readonly embedderUrl: string | undefined;
  readonly embedderKey: string | undefined;
  readonly embedderPrice: number | undefined;
  readonly embedderRequests: number;
  readonly embedderTokens: number;
  readonly batchProviders: string | undefined;
  readonly batchPollSeconds: number;
  readonly log: 'silent' | 'error' | 'warn' | 'info' | 'debug';
  readonly failpoint: string | undefined;
}

export type { PaceSetting } from './forms.ts';

export type Key = keyof Config;

export interface Setting<K extends Key> {
  readonly variable: `PAWL_${string}`;
  readonly flag?: string;
  readonly initial: Config[K];
  /** The valid values, as they read after "must be". */
  readonly form: string;
  readonly meaning: string;
  /** It contains a key or a password, so an error does not repeat it. */
  readonly isSecret?: boolean;
  /** Only for tests: not documented and never suggested. */
  readonly isHidden?: boolean;
  /** Undefined if the text is invalid. */
  parse(text: string): Config[K] | undefined;
}

const levels = ['silent', 'error', 'warn', 'info', 'debug'] as const;
const workersMax = 512;

export const settings: { readonly [K in Key]: Setting<K> } = {
  ...serviceSettings,
  data: {
    variable: 'PAWL_DATA',
    flag: '--data',
    initial: '.pawl',
    form: 'a folder',
    meaning: 'The folder of the embedded store and of the fetched bytes. Created if absent.',
    parse: (text) => text,
  },
  corpus: {
    variable: 'PAWL_CORPUS',
    initial: 'default',
    form: 'the name of a corpus',
    meaning: 'The corpus of `pawl ingest`, `pawl search` and `pawl why` if the call names none.',
    parse: (text) => text,
  },
  host: {
    variable: 'PAWL_HOST',
    flag: '--host',
    initial: '127.0.0.1',
    form: 'the name or address of an interface of this machine',
    meaning: 'The address to listen on. Without API keys or Membership, only loopback is allowed.',
    parse: (text) => (/^[^\s/?#@]+$/.test(text) ? text : undefined),
  },
  port: {
    variable: 'PAWL_PORT',
    flag: '--port',
    initial: 7300,
    form: 'a whole number from 0 to 65535',
    meaning: 'The port of the service; 0 chooses a free one.',
    parse: (text) => {
      const value = Number(text);
      return Number.isInteger(value) && value >= 0 && value <= 65_535 ? value : undefined;
    },
  },
  key: {
    variable: 'PAWL_KEY',
    initial: undefined,
    form: 'one word',
    meaning: 'The API key that commands send to the service at `--url`.',
    isSecret: true,
    parse: (text) => (/^\S+$/.test(text) ? text : undefined),
  },
  webhookSecret: {
    variable: 'PAWL_WEBHOOK_SECRET',
    initial: undefined,
    form: `${limits.webhook.secretCharactersMin} printable characters or more`,
    meaning:
      'The secret from which the webhook secrets of callers are derived. Absent: jobs with ' +
      'a `webhook_url` are refused.',
    isSecret: true,
    parse: (text) =>
      text.length >= limits.webhook.secretCharactersMin && /^[\x21-\x7e]+$/.test(text)
        ? text
        : undefined,
  },
  otlpUrl: {
    variable: 'PAWL_OTLP_URL',
    initial: undefined,
    form: 'an http or https address such as http://127.0.0.1:4318',
    meaning:
      'The address of an OpenTelemetry collector (OTLP over HTTP). Spans of requests, ' +
      'steps and model calls are sent to `/v1/traces` there.',
    isSecret: true,
    parse: (text) => (/^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined),
  },
  databaseUrl: {
    variable: 'PAWL_DATABASE_URL',
    initial: undefined,
    form: 'an address such as postgres://user:password@host:5432/name',
    meaning:
      'A Postgres database for everything except the fetched bytes. Absent: embedded SQLite.',
    isSecret: true,
    parse: (text) => (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? text : undefined),
  },
  workers: {
    variable: 'PAWL_WORKERS',
    initial: undefined,
    form: `a whole number from 0 to ${workersMax}`,
    meaning:
      'How many documents one process works on concurrently; an orchestrator uses this ' +
      'number for itself and for each service. With 0, `pawl serve` only answers ' +
      'requests, and other processes do the work. Absent: ' +
      `${limits.lease.itemsInFlightMax}; in a separate scraper ` +
      `${limits.handoff.placesScrape}, in a separate embedding service ` +
      `${limits.handoff.placesEmbed}.`,
    parse: (text) => (text.trim() === '0' ? 0 : wholeNumber(text, workersMax)),
  },
  allowHosts: {
    variable: 'PAWL_ALLOW_HOSTS',
    initial: undefined,
    form: 'host:port pairs separated by commas',
    meaning:
      'Private hosts that may be fetched from, each with its exact port. Link-local and ' +
      'metadata addresses stay forbidden.',
    parse: (text) => {
      const hosts = text.split(',').map((entry) => entry.trim());
      const isPair = (entry: string): boolean =>
        /^[^/?#@\s]+:\d{1,5}$/.test(entry) && URL.canParse(`http://${entry}/`);
      return hosts.every(isPair) ? hosts : undefined;
    },
  },
  apiKeys: {
    variable: 'PAWL_API_KEYS',
    initial: undefined,
    form: 'sha256: hashes (sha256: and 64 hexadecimal digits) separated by commas',
    meaning:
      'The accepted API keys, as hashes. `printf %s KEY | sha256sum` prints the hash of ' +
      'a key. `NAME=sha256:HASH` assigns a key to a caller: keys with the same name ' +
      'belong to one caller.',
    // A key that was entered here by mistake must not appear in a log.
    isSecret: true,
    parse: (text) => list(text, /^([\x21-\x2b\x2d-\x3c\x3e-\x7e]{1,128}=)?sha256:[0-9a-f]{64}$/i),
  },
  internalKey: {
    variable: 'PAWL_INTERNAL_KEY',
    initial: undefined,
    form: `${limits.key.internalCharactersMin} to ${limits.key.charactersMax} printable characters`,
    meaning: 'The key that services of Pawl use to call each other.',
    isSecret: true,
    parse: (text) => {
      const { internalCharactersMin: least, charactersMax: most } = limits.key;
      return new RegExp(`^[\\x21-\\x7e]{${least},${most}}$`).test(text) ? text : undefined;
    },
  },
  internalCallerIds: {
    variable: 'PAWL_INTERNAL_CALLER_IDS',
    initial: undefined,
    form: 'caller ids separated by commas',
    meaning: 'Callers that count as services of Pawl, by the id from Membership or the key.',
    parse: (text) => list(text, /^[\x21-\x7e]{1,128}$/),
  },
  membershipUrl: {
    variable: 'PAWL_MEMBERSHIP_URL',
    initial: undefined,
    form: 'an http or https address without user, query or fragment',
    meaning: 'The service that validates keys which `PAWL_API_KEYS` does not list.',
    isSecret: true,
    parse: (text) => {
      const url = URL.parse(text);
      const isPlain = url?.href === `${url?.origin}${url?.pathname}`;
      return isPlain && /^https?:$/.test(url?.protocol ?? '') ? text : undefined;
    },
  },
  ...redisSettings,
  ...rateSettings,
  extractor: {
    variable: 'PAWL_EXTRACTOR',
    initial: 'local',
    form: 'local, or openai:MODEL',
    meaning:
      'The extractor of entities: local rules and word lists, or a model with an ' +
      'OpenAI-compatible API. A model receives the text of every document.',
    parse: (text) => (/^(?:local|openai:\S+)$/.test(text) ? text : undefined),
  },
  extractorUrl: {
    variable: 'PAWL_EXTRACTOR_URL',
    initial: undefined,
    form: 'an http or https address such as https://host/v1',
    meaning: 'The address of the model of `PAWL_EXTRACTOR`. Absent: the address of OpenAI.',
    isSecret: true,
    parse: (text) => (/^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined),
  },
  extractorKey: {
    variable: 'PAWL_EXTRACTOR_KEY',
    initial: undefined,
    form: 'the key from the provider',
    meaning: 'The key for the model of `PAWL_EXTRACTOR`, if it needs one.',
    isSecret: true,
    parse: (text) => text,
  },
  extractorPrice: {
    variable: 'PAWL_EXTRACTOR_PRICE',
    initial: undefined,
    form: 'cents per million input and output tokens, such as 15/60',
    meaning: 'The price of that model, if it is not in the price table or differs from it.',
    parse: parsePrices,
  },
  extractorRequests: {
    variable: 'PAWL_EXTRACTOR_REQUESTS',
    initial: limits.completion.requestsPerMinute,
    form: 'a whole number from 1',
    meaning: 'How many requests per minute one process sends to that model.',
    parse: wholeFromOne,
  },
  extractorTokens: {
    variable: 'PAWL_EXTRACTOR_TOKENS',
    initial: limits.completion.tokensPerMinute,
    form: 'a whole number from 1',
    meaning: 'How many input and output tokens per minute one process uses of that model.',
    parse: wholeFromOne,
  },
  browser: {
    variable: 'PAWL_BROWSER',
    initial: 'off',
    form: '`off`, `auto`, or the path of a Chromium',
    meaning:
      'The browser that renders pages whose text is created by scripts. `auto` uses the ' +
      'Chromium or Chrome of this machine.',
    parse: (text) => (/^(?:off|auto)$|[/\\]/.test(text) ? text : undefined),
  },
  render: {
    variable: 'PAWL_RENDER',
    initial: 'needed',
    form: '`needed` or `always`',
    meaning: 'Which pages the browser renders: those with hardly any text, or all.',
    parse: (text) => (text === 'needed' || text === 'always' ? text : undefined),
  },
  pace: {
    variable: 'PAWL_PACE',
    initial: undefined,
    form: 'entries such as docs.corp=8/100 (concurrency / delay in ms), separated by commas',
    meaning:
      `Crawl limits of single domains. All others: ${limits.fetch.domainConcurrencyMax} ` +
      `pages concurrently, ${limits.fetch.domainIntervalMs} ms between requests. A longer ` +
      'delay in robots.txt wins.',
    parse: parsePace,
  },
  embedder: {
    variable: 'PAWL_EMBEDDER',
    initial: 'local',
    form: 'local, minilm, openai:MODEL, VENDOR:MODEL, VENDOR:MODEL@DIMENSIONS or onnx:FOLDER',
    meaning:
      'The embedding model: the built-in table, any server with an OpenAI-compatible ' +
      'embeddings API, or an ONNX model on this machine. VENDOR is one of ' +
      `${embedderVendors.join(', ')}, with its address and its prompts.`,
    parse: (text) =>
      /^(?:local|minilm|openai:\S+|onnx:.+)$/.test(text) || vendorModel(text) ? text : undefined,
  },
  embedderUrl: {
    variable: 'PAWL_EMBEDDER_URL',
    initial: undefined,
    form: 'an http or https address up to the version, such as http://127.0.0.1:8080/v1',
    meaning:
      'The address of the server of the model. Absent: that of the vendor, or of OpenAI; both ' +
      'need a key. Private addresses are allowed here. A corpus keeps the address that it ' +
      'was created with.',
    parse: (text) => (/^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined),
  },
  embedderKey: {
    variable: 'PAWL_EMBEDDER_KEY',
    initial: undefined,
    form: 'one word',
    meaning: 'The key for that server. It is sent only there, and neither stored nor logged.',
    isSecret: true,
    parse: (text) => (/^\S+$/.test(text) ? text : undefined),
  },
  embedderPrice: {
    variable: 'PAWL_EMBEDDER_PRICE',
    initial: undefined,
    form: 'cents per million tokens, such as 2 or 0',
    meaning: 'The price of the model, if it is not in the price table or differs from it.',
    parse: (text) => {
      const value = Number(text);
      return Number.isFinite(value) && value >= 0 ? value : undefined;
    },
  },
  embedderRequests: {
    variable: 'PAWL_EMBEDDER_REQUESTS',
    initial: limits.budget.requestsPerMinute,
    form: 'a whole number from 1',
    meaning: 'How many requests per minute one process sends to the embedder.',
    parse: wholeFromOne,
  },
  embedderTokens: {
    variable: 'PAWL_EMBEDDER_TOKENS',
    initial: limits.budget.tokensPerMinute,
    form: 'a whole number from 1',
    meaning: 'How many tokens per minute one process sends to the embedder.',
    parse: wholeFromOne,
  },
  ...modelSettings,
  batchProviders: {
    variable: 'PAWL_BATCH_PROVIDERS',
    initial: undefined,
    form: 'a file',
    meaning:
      'A JSON file with the address and key of each batch provider: `azure`, `aws`, `google`, ' +
      '`sarvam`, `openai`, `gemini`, `anthropic`.',
    parse: (text) => text,
  },
  batchPollSeconds: {
    variable: 'PAWL_BATCH_POLL_SECONDS',
    initial: limits.batch.pollIntervalMs / 1000,
    form: 'a whole number from 1 to 3600',
    meaning: 'The polling interval of batch tasks, in seconds.',
    parse: (text) => wholeNumber(text, 3600),
  },
  ...sinkSettings,
  log: {
    variable: 'PAWL_LOG',
    initial: 'warn',
    form: `one of ${levels.join(', ')}`,
    meaning: 'The log level on stderr. With `debug`, errors include their stack.',
    parse: (text) => levels.find((level) => level === text),
  },
  failpoint: {
    variable: 'PAWL_FAILPOINT',
    initial: undefined,
    form: 'NAME:kill or NAME:stop, optionally with :NTH',
    meaning: 'Kills or stops the process at a named failpoint, for tests.',
    isHidden: true,
    parse: (text) => text,
  },
};
