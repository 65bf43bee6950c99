/** The batch providers that are configured, from the file that `PAWL_BATCH_PROVIDERS` names. */
import { readFileSync } from 'node:fs';
import type { BlobStore } from './blob/blob.ts';
import { Failure } from './kernel/failure.ts';
import { limits } from './kernel/limits.ts';
import type { World } from './kernel/world.ts';
import type { AllowedHosts } from './pipeline/fetch/address.ts';
import { httpFetcher } from './pipeline/fetch/http.ts';
import { linkFetcher } from './pipeline/fetch/link.ts';
import { anthropicBatches } from './provider/batch/anthropic.ts';
import { awsTranscriber } from './provider/batch/aws.ts';
import { azureTranscriber } from './provider/batch/azure.ts';
import type { BatchProvider, HourPrice } from './provider/batch/batch-provider.ts';
import { withinBuckets } from './provider/batch/buckets.ts';
import { Endpoint, type EndpointOptions } from './provider/batch/endpoint.ts';
import { geminiBatches } from './provider/batch/gemini.ts';
import { googleTranscriber } from './provider/batch/google.ts';
import { GoogleToken } from './provider/batch/google-token.ts';
import { openaiBatches } from './provider/batch/openai.ts';
import { sarvamTranscriber } from './provider/batch/sarvam.ts';
import { signRequest } from './provider/batch/signature.ts';

export interface ProviderSettings {
  readonly [provider: string]: Readonly<Record<string, unknown>>;
}

interface Making {
  readonly name: string;
  /** A text of the provider's entry; throws where it is missing and has no standard. */
  text(field: string, standard?: string): string;
  /** The buckets of the operator that callers may have read. */
  buckets(): readonly string[];
  endpoint(url: string, authorize: EndpointOptions['authorize'], home?: RegExp): Endpoint;
  readonly world: World;
  readonly allowed: AllowedHosts;
  readonly blobs: BlobStore;
}

/** Azure's hosts of speech resources: of a region, or with a name of their own. */
const azureHome =
  /^https:\/\/[\w-]+\.(?:api\.cognitive\.microsoft|cognitiveservices\.azure)\.com(?=\/)/;

/** One row for each provider: what its entry must hold, and what is made of it. */
const makers: Readonly<Record<string, (making: Making) => BatchProvider>> = {
  azure: (making) => {
    const key = making.text('key');
    const authorize = async () => ({ 'ocp-apim-subscription-key': key });
    return azureTranscriber(making.endpoint(making.text('url'), authorize, azureHome));
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
    const url = making.text('url', `https://transcribe.${region}.amazonaws.com`);
    const endpoint = making.endpoint(url, async (request) =>
      signRequest(request, { credentials, service: 'transcribe', now: world.now() }),
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
    const url = making.text('url', `https://${region}speech.googleapis.com`);
    const endpoint = making.endpoint(url, async () => ({
      authorization: `Bearer ${await token.get()}`,
    }));
    const project = making.text('project');
    return withinBuckets(googleTranscriber({ endpoint, project, location }), making.buckets());
  },
  sarvam: (making) => {
    const key = making.text('key');
    const url = making.text('url', 'https://api.sarvam.ai');
    const endpoint = making.endpoint(url, async () => ({ 'api-subscription-key': key }));
    return sarvamTranscriber({ endpoint, read: recordingReader(making) });
  },
  openai: (making) => {
    const key = making.text('key');
    const url = making.text('url', 'https://api.openai.com/v1');
    return openaiBatches(making.endpoint(url, async () => ({ authorization: `Bearer ${key}` })));
  },
  gemini: (making) => {
    const key = making.text('key');
    const url = making.text('url', 'https://generativelanguage.googleapis.com');
    const home = /^https:\/\/generativelanguage\.googleapis\.com(?=\/)/;
    return geminiBatches(making.endpoint(url, async () => ({ 'x-goog-api-key': key }), home));
  },
  anthropic: (making) => {
    const key = making.text('key');
    const url = making.text('url', 'https://api.anthropic.com');
    const headers = { 'x-api-key': key, 'anthropic-version': '2023-06-01' };
    const home = /^https:\/\/api\.anthropic\.com(?=\/)/;
    return anthropicBatches(making.endpoint(url, async () => headers, home));
  },
};

export function readProviderSettings(path: string): ProviderSettings {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (value instanceof Object && !Array.isArray(value)) return value as ProviderSettings;
  } catch (error) {
    const message = `PAWL_BATCH_PROVIDERS: ${path} cannot be read as JSON`;
    throw new Failure('usage_error', message, { cause: error });
  }
  throw new Failure('usage_error', `PAWL_BATCH_PROVIDERS: ${path} must hold one JSON object`);
}

export function makeProviders(
  settings: ProviderSettings,
  { world, allowed, blobs }: Pick<Making, 'world' | 'allowed' | 'blobs'>,
): BatchProvider[] {
  const fetchLink = linkFetcher({ world, allowed });
  return Object.entries(settings).map(([name, entry]) => {
    const make = makers[name];
    if (!make) {
      const known = Object.keys(makers).join(', ');
      throw new Failure('usage_error', `there is no batch provider ${name}; there are: ${known}`);
    }
    let url: string | undefined;
    const made = make({
      name,
      ...{ world, allowed, blobs },
      text: (field, standard) => textOf(entry, { name, field, standard }),
      buckets: () => bucketsOf(name, entry),
      endpoint: (at, authorize, home) => {
        url = at;
        const provider = { name: name.toUpperCase(), url: at, home };
        return new Endpoint({ ...provider, world, authorize, fetchLink });
      },
    });
    return { ...made, url, hourPrice: hourPriceOf(name, entry) };
  });
}

function bucketsOf(name: string, { buckets }: ProviderSettings[string]): readonly string[] {
  const isList = Array.isArray(buckets) && buckets.every((each) => typeof each === 'string');
  if (isList) return buckets;
  const message = `batch provider ${name} needs buckets: a list of what callers may have read`;
  throw new Failure('usage_error', message);
}

/** The price of an hour of sound in a batch; at once it costs as much, where nothing is said. */
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

/** Recordings are ours, or fetched like any document: from public addresses, within bounds. */
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
