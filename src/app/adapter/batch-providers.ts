/** The configured batch providers, from the file that `PAWL_BATCH_PROVIDERS` names. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BlobStore } from '../../blob/blob.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { AllowedHosts } from '../../pipeline/fetch/address.ts';
import { httpFetcher } from '../../pipeline/fetch/http/http.ts';
import { linkFetcher } from '../../pipeline/fetch/http/link.ts';
import type { BatchProvider, HourPrice } from '../../provider/batch/batch-provider.ts';
import { withinBuckets } from '../../provider/batch/buckets.ts';
import { checkNames, checkProvider } from '../../provider/batch/check-provider.ts';
import { Endpoint, type EndpointOptions } from '../../provider/batch/endpoint.ts';
import { signRequest } from '../../provider/batch/signature.ts';
import { anthropicBatches } from '../../provider/batch/vendor/anthropic.ts';
import { awsTranscriber } from '../../provider/batch/vendor/aws.ts';
import { azureTranscriber } from '../../provider/batch/vendor/azure.ts';
import { geminiBatches } from '../../provider/batch/vendor/gemini.ts';
import { googleTranscriber } from '../../provider/batch/vendor/google.ts';
import { GoogleToken } from '../../provider/batch/vendor/google-token.ts';
import { openaiBatches } from '../../provider/batch/vendor/openai.ts';
import { sarvamTranscriber } from '../../provider/batch/vendor/sarvam.ts';

export interface ProviderSettings {
  readonly [provider: string]: Readonly<Record<string, unknown>>;
}

interface Making {
  readonly name: string;
  /** A text field of the provider's entry; throws if it is missing and has no default. */
  text(field: string, standard?: string): string;
  /** The provider's address; throws if it is not a valid URL. */
  url(standard?: string): string;
  /** A positive integer field, likewise. */
  count(field: string, standard: number): number;
  /** The operator's buckets from which callers may submit recordings. */
  buckets(): readonly string[];
  endpoint(url: string, authorize: EndpointOptions['authorize'], home?: RegExp): Endpoint;
  readonly world: World;
  readonly allowed: AllowedHosts;
  readonly blobs: BlobStore;
}

/** The hosts of Azure speech resources, in all Azure clouds. */
const azureDomains = [
  ...['api.cognitive.microsoft.com', 'api.cognitive.microsoft.us', 'api.cognitive.azure.cn'],
  ...['com', 'us', 'cn'].map((end) => `cognitiveservices.azure.${end}`),
];
const azureHome = new RegExp(
  `^https://[\\w-]+\\.(?:${azureDomains.join('|').replaceAll('.', '\\.')})(?=/)`,
);

/** One row for each provider: the fields of its entry, and the adapter made from them. */
const makers: Readonly<Record<string, (making: Making) => BatchProvider>> = {
  azure: (making) => {
    const key = making.text('key');
    const authorize = async () => ({ 'ocp-apim-subscription-key': key });
    return azureTranscriber(making.endpoint(making.url(), authorize, azureHome));
  },
  aws: (making) => {
    const region = making.text('region');
    const sessionToken = making.text('session_token', '') || undefined;
    const credentials = {
      accessKeyId: making.text('access_key_id'),
      secretAccessKey: making.text('secret_access_key'),
      sessionToken,
      region,
    };
    const { world } = making;
    const url = making.url(`https://transcribe.${region}.amazonaws.com`);
    // A proxy that forwards to Amazon under Amazon's host needs a signature for that host.
    const { host } = new URL(url);
    const signed = new URL(urlOf('aws', `https://${making.text('signed_host', host)}/`));
    const isProxied = signed.host !== host;
    const endpoint = making.endpoint(url, async (request) =>
      signRequest(isProxied ? { ...request, url: signed } : request, {
        credentials,
        service: 'transcribe',
        now: world.now(),
      }),
    );
    return withinBuckets(awsTranscriber(endpoint), making.buckets());
  },
  google: (making) => {
    const account = {
      client_email: making.text('client_email'),
      private_key: making.text('private_key'),
      token_uri: making.text('token_uri', 'https://oauth2.googleapis.com/token'),
    };
    const token = new GoogleToken(account, making.world);
    const location = making.text('location', 'global');
    const region = location === 'global' ? '' : `${location}-`;
    const url = making.url(`https://${region}speech.googleapis.com`);
    const endpoint = making.endpoint(url, async () => ({
      authorization: `Bearer ${await token.get()}`,
    }));
    const project = making.text('project');
    return withinBuckets(googleTranscriber({ endpoint, project, location }), making.buckets());
  },
  sarvam: (making) => {
    const key = making.text('key');
    const url = making.url('https://api.sarvam.ai');
    const endpoint = making.endpoint(url, async () => ({ 'api-subscription-key': key }));
    return sarvamTranscriber({ endpoint, read: recordingReader(making) });
  },
  openai: (making) => {
    const key = making.text('key');
    const url = making.url('https://api.openai.com/v1');
    return openaiBatches(making.endpoint(url, async () => ({ authorization: `Bearer ${key}` })));
  },
  gemini: (making) => {
    const key = making.text('key');
    const url = making.url('https://generativelanguage.googleapis.com');
    const home = /^https:\/\/generativelanguage\.googleapis\.com(?=\/)/;
    return geminiBatches(making.endpoint(url, async () => ({ 'x-goog-api-key': key }), home));
  },
  anthropic: (making) => {
    const key = making.text('key');
    const url = making.url('https://api.anthropic.com');
    const headers = { 'x-api-key': key, 'anthropic-version': '2023-06-01' };
    const home = /^https:\/\/api\.anthropic\.com(?=\/)/;
    const endpoint = making.endpoint(url, async () => headers, home);
    return anthropicBatches(endpoint, making.count('max_tokens', 8192));
  },
};

export function readProviderSettings(path: string): ProviderSettings {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (isObject(value)) return withModulesFrom(dirname(path), value as ProviderSettings);
  } catch (error) {
    const message = `PAWL_BATCH_PROVIDERS: ${path} cannot be read as JSON`;
    throw new Failure('usage_error', message, { cause: error });
  }
  throw new Failure('usage_error', `PAWL_BATCH_PROVIDERS: ${path} must hold one JSON object`);
}

/** Module paths are relative to the file. */
function withModulesFrom(folder: string, settings: ProviderSettings): ProviderSettings {
  const entries = Object.entries(settings).map(([name, entry]) => {
    const isModule = isObject(entry) && typeof entry.module === 'string';
    const module = isModule ? { module: resolve(folder, String(entry.module)) } : {};
    return [name, isModule ? { ...entry, ...module } : entry] as const;
  });
  return Object.fromEntries(entries);
}

type Reach = Pick<Making, 'world' | 'allowed' | 'blobs'>;

export interface ProviderOptions {
  readonly batchAdapters?: readonly BatchProvider[] | undefined;
  readonly batchProviders?: ProviderSettings | undefined;
}

/** Providers passed as objects come before configured ones. */
export async function openProviders(
  { batchAdapters = [], batchProviders = {} }: ProviderOptions,
  reach: Reach,
): Promise<readonly BatchProvider[]> {
  const given = batchAdapters.map((each) => checkProvider(each, 'one of batchAdapters'));
  return checkNames([...given, ...(await makeProviders(batchProviders, reach))]);
}

export function makeProviders(settings: ProviderSettings, reach: Reach): Promise<BatchProvider[]> {
  return Promise.all(
    Object.entries(settings).map(async ([name, entry]) => {
      if (!isObject(entry)) {
        throw new Failure('usage_error', `the entry of batch provider ${name} must be an object`);
      }
      const hourPrice = hourPriceOf(name, entry);
      const made =
        entry.module === undefined
          ? makeKnown(name, entry, reach)
          : await loadModule(name, entry, reach.world);
      return hourPrice ? { ...made, hourPrice } : made;
    }),
  );
}

function makeKnown(
  name: string,
  entry: ProviderSettings[string],
  { world, allowed, blobs }: Reach,
): BatchProvider {
  const make = Object.hasOwn(makers, name) ? makers[name] : undefined;
  if (!make) {
    const known = Object.keys(makers).join(', ');
    const own = 'one of your own needs a module in its entry';
    const message = `there is no batch provider ${name}; there are: ${known}; ${own}`;
    throw new Failure('usage_error', message);
  }
  const fetchLink = linkFetcher({ world, allowed });
  let url: string | undefined;
  const made = make({
    name,
    world,
    allowed,
    blobs,
    text: (field, standard) => textOf(entry, { name, field, standard }),
    url: (standard) => urlOf(name, textOf(entry, { name, field: 'url', standard })),
    count: (field, standard) => countOf(entry, { name, field, standard }),
    buckets: () => bucketsOf(name, entry),
    endpoint: (at, authorize, home) => {
      url = at;
      const provider = { name: name.toUpperCase(), url: at, home };
      return new Endpoint({ ...provider, world, authorize, fetchLink });
    },
  });
  return { ...made, url };
}

/** The module gets its entry, and returns an implementation of the port. */
async function loadModule(
  name: string,
  entry: ProviderSettings[string],
  world: World,
): Promise<BatchProvider> {
  const path = textOf(entry, { name, field: 'module', standard: undefined });
  const from = `the module ${path} of batch provider ${name}`;
  const make = async (): Promise<unknown> => {
    const module: Record<string, unknown> = await import(pathToFileURL(resolve(path)).href);
    const { makeBatchProvider } = module;
    if (typeof makeBatchProvider === 'function') return makeBatchProvider(entry);
    throw new Failure('usage_error', `${from} must export a function makeBatchProvider`);
  };
  try {
    return checkProvider(await withDeadline(make(), world), from);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure('usage_error', `${from} cannot be loaded: ${reason}`, { cause: error });
  }
}

function withDeadline<T>(making: Promise<T>, world: World): Promise<T> {
  const { callMs } = limits.batch;
  return new Promise((done, fail) => {
    const late = new Error(`it was not ready after ${callMs / 1000} s`);
    const stop = world.setTimer(() => fail(late), callMs);
    making.then(done, fail).finally(stop);
  });
}

function bucketsOf(name: string, { buckets }: ProviderSettings[string]): readonly string[] {
  const isList = Array.isArray(buckets) && buckets.every((each) => typeof each === 'string');
  if (isList) return buckets;
  const message = `batch provider ${name} needs buckets: a list of what callers may have read`;
  throw new Failure('usage_error', message);
}

/** The batch price of an hour of audio; the live price is the same unless configured. */
function hourPriceOf(name: string, entry: ProviderSettings[string]): HourPrice | undefined {
  const { cents_per_hour: batch, normal_cents_per_hour: normal = batch } = entry;
  if (batch === undefined && normal === undefined) return undefined;
  if (isPrice(batch) && isPrice(normal)) return { batch, normal };
  const message = `batch provider ${name}: cents_per_hour and normal_cents_per_hour are numbers`;
  throw new Failure('usage_error', message);
}

const isPrice = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

function textOf(
  entry: Readonly<Record<string, unknown>>,
  { name, field, standard }: { name: string; field: string; standard: string | undefined },
): string {
  const value = entry[field];
  if (typeof value === 'string' && value !== '') return value;
  if (value === undefined && standard !== undefined) return standard;
  const message = `batch provider ${name} needs a text for ${field}`;
  throw new Failure('usage_error', message);
}

function urlOf(name: string, url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new Failure('usage_error', `batch provider ${name}: url is an http or https address`);
}

function countOf(
  entry: Readonly<Record<string, unknown>>,
  { name, field, standard }: { name: string; field: string; standard: number },
): number {
  const { [field]: value = standard } = entry;
  if (Number.isSafeInteger(value) && Number(value) >= 1) return Number(value);
  throw new Failure('usage_error', `batch provider ${name}: ${field} is a whole number from 1`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value instanceof Object && !Array.isArray(value);
}

/** Recordings are stored blobs, or fetched like documents: public addresses, within bounds. */
function recordingReader({ world, allowed, blobs }: Making) {
  const fetcher = httpFetcher({ world, allowed });
  return async (source: string, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> => {
    const [, key] = /^blob:([0-9a-f]{64})\//.exec(source) ?? [];
    if (key !== undefined) return new Uint8Array(await blobs.get(key));
    const { bytes, status } = await fetcher.get({
      url: new URL(source),
      accept: 'audio/*, video/*, */*',
      signal,
      redirectsMax: limits.fetch.redirectsMax,
      bounds: {
        wireBytesMax: limits.fetch.wireBytesMax,
        bytesMax: limits.document.sourceBytesMax,
        beyond: 'fail',
      },
    });
    if (status === 200) return new Uint8Array(bytes);
    throw new Failure('http_4xx', `${source} answered ${status}`);
  };
}
