/** All providers as one table: what a test of any of them needs to know. */
import { generateKeyPairSync } from 'node:crypto';
import { realWorld } from '../../../src/app/world.ts';
import type { BatchProvider } from '../../../src/provider/batch/batch-provider.ts';
import { Endpoint } from '../../../src/provider/batch/endpoint.ts';
import { signRequest } from '../../../src/provider/batch/signature.ts';
import { anthropicBatches } from '../../../src/provider/batch/vendor/anthropic.ts';
import { awsTranscriber } from '../../../src/provider/batch/vendor/aws.ts';
import { azureTranscriber } from '../../../src/provider/batch/vendor/azure.ts';
import { geminiBatches } from '../../../src/provider/batch/vendor/gemini.ts';
import { googleTranscriber } from '../../../src/provider/batch/vendor/google.ts';
import { GoogleToken } from '../../../src/provider/batch/vendor/google-token.ts';
import { openaiBatches } from '../../../src/provider/batch/vendor/openai.ts';
import { sarvamTranscriber } from '../../../src/provider/batch/vendor/sarvam.ts';
import { AnthropicServer } from './anthropic-server.ts';
import { AwsServer } from './aws-server.ts';
import { AzureServer } from './azure-server.ts';
import { endpointOf } from './fixture.ts';
import { GeminiServer } from './gemini-server.ts';
import { GoogleServer } from './google-server.ts';
import { OpenaiServer } from './openai-server.ts';
import type { ProviderServer } from './provider-server.ts';
import { SarvamServer } from './sarvam-server.ts';

export interface ProviderCase {
  readonly server: ProviderServer;
  make(): BatchProvider;
  /** A task with two entries. */
  readonly body: Record<string, unknown>;
  /** Their ids, as in the results. */
  readonly ids: readonly [string, string];
  /** The call that starts a job, and the one that polls it. */
  readonly begins: RegExp;
  readonly asks: RegExp;
  readonly jobs: () => number;
  /** The second of the two entries fails from now on. */
  failSecond(): void;
  /** The provider forgets all jobs. */
  forget(): void;
  /** Canceled jobs. */
  canceled(): number;
  /** A job right after its start. */
  readonly firstJobs: readonly object[];
  /** The provider's clock. */
  setClock?(now: () => number): void;
}

const http = ['https://media.example/one.wav', 'https://media.example/two.wav'] as const;
const s3 = ['s3://bucket/one.wav', 's3://bucket/two.wav'] as const;
const gs = ['gs://bucket/one.wav', 'gs://bucket/two.wav'] as const;
const asked = ['one', 'two'] as const;
const requests = asked.map((id) => ({
  custom_id: id,
  instruction: 'Answer.',
  input: `request ${id}`,
}));
const spoken = (provider: string, urls: readonly string[]) => ({
  task_type: 'transcription',
  provider,
  urls,
  dataset_ids: ['d-1'],
});
const written = (model: string) => ({
  task_type: 'completion',
  models: [model],
  requests,
  dataset_ids: ['d-1'],
});

function azure(): ProviderCase {
  const azure = new AzureServer();
  return {
    server: azure.server,
    make: () => azureTranscriber(endpointOf(azure.server.url)),
    body: spoken('AZURE', http),
    ids: http,
    begins: /^POST .*transcriptions:submit$/,
    asks: /^GET .*transcriptions\/t-\d+$/,
    jobs: () => azure.server.count(/^POST .*transcriptions:submit$/),
    failSecond: () => {
      azure.transcribe = (url) => (url === http[1] ? { error: 'bad audio' } : { text: 'words' });
    },
    forget: () => azure.jobs.clear(),
    canceled: () => azure.server.count(/^DELETE /),
    get firstJobs() {
      const path = 'speechtotext/transcriptions/t-1?api-version=2024-11-15';
      const url = `${azure.server.url}/${path}`;
      return [{ external_job_id: url, status: 'SUBMITTED' }];
    },
  };
}

function aws(): ProviderCase {
  const aws = new AwsServer();
  const credentials = {
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'secret',
    region: 'eu-west-1',
  };
  const authorize = async (request: Parameters<typeof signRequest>[0]) =>
    signRequest(request, { credentials, service: 'transcribe', now: Date.now() });
  return {
    server: aws.server,
    make: () =>
      awsTranscriber(
        new Endpoint({ name: 'AWS', url: aws.server.url, world: realWorld(), authorize }),
      ),
    body: spoken('AWS', s3),
    ids: s3,
    begins: /^POST \/$/,
    asks: /^POST \/$/,
    jobs: () => aws.jobs.size,
    failSecond: () => {
      aws.transcribe = (media) => (media === s3[1] ? undefined : 'words');
    },
    forget: () => aws.jobs.clear(),
    canceled: () => aws.deleted,
    firstJobs: s3.map((uri, index) => ({
      external_job_id: `pawl-TASK-${index}`,
      gcs_uri: uri,
      filename: uri.split('/').at(-1),
      status: 'SUBMITTED',
      transient_failures: 0,
    })),
  };
}

/** With a key of a service account, which is exchanged for a token. */
export function googleAt(url: string): BatchProvider {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const account = { client_email: 'a@p', private_key: key, token_uri: `${url}/token` };
  const token = new GoogleToken(account, realWorld());
  const authorize = async () => ({ authorization: `Bearer ${await token.get()}` });
  const endpoint = new Endpoint({ name: 'Google', url, world: realWorld(), authorize });
  return googleTranscriber({ endpoint, project: 'p', location: 'global' });
}

function google(): ProviderCase {
  const google = new GoogleServer();
  return {
    server: google.server,
    make: () => googleAt(google.server.url),
    body: { ...spoken('GOOGLE', gs), models: ['long', 'short'] },
    ids: gs,
    begins: /batchRecognize$/,
    asks: /^GET .*operations\/\d+$/,
    jobs: () => google.operations.size,
    failSecond: () => {
      google.transcribe = (uri) => (uri === gs[1] ? undefined : 'words');
    },
    forget: () => google.operations.clear(),
    canceled: () => [...google.operations.values()].filter((each) => each.isCanceled).length,
    firstJobs: ['long', 'long', 'short', 'short'].map((model, index) => ({
      model,
      external_job_id: `projects/p/locations/global/operations/${index + 1}`,
      status: 'SUBMITTED',
      transient_failures: 0,
    })),
    setClock: (now) => {
      google.now = now;
    },
  };
}

function sarvam(): ProviderCase {
  const sarvam = new SarvamServer();
  const read = async (source: string) => new TextEncoder().encode(`sound of ${source}`);
  return {
    server: sarvam.server,
    make: () => sarvamTranscriber({ endpoint: endpointOf(sarvam.server.url), read }),
    body: spoken('SARVAM', http),
    ids: http,
    begins: /\/start$/,
    asks: /^GET .*status$/,
    jobs: () => sarvam.server.count(/\/start$/),
    failSecond: () => {
      sarvam.transcribe = (file) => (file === 'two.wav' ? undefined : 'words');
    },
    forget: () => sarvam.jobs.clear(),
    // It cannot end a job.
    canceled: () => 2,
    firstJobs: [1, 2].map((number) => ({
      external_job_id: `s-${number}`,
      status: 'SUBMITTED',
      transient_failures: 0,
    })),
  };
}

function completion(model: string, id: string): { firstJobs: readonly object[] } {
  const job = { model, status: 'SUBMITTED', external_job_id: id, transient_failures: 0 };
  return { firstJobs: [job] };
}

function openai(): ProviderCase {
  const openai = new OpenaiServer();
  return {
    server: openai.server,
    make: () => openaiBatches(endpointOf(openai.url)),
    body: written('gpt-4o-mini'),
    ids: asked,
    begins: /^POST .*batches$/,
    asks: /^GET .*batches\/batch_\d+$/,
    jobs: () => openai.batches.size,
    failSecond: () => {
      openai.answer = ({ custom_id }) =>
        custom_id === 'two' ? { status: 400, message: 'no' } : { content: 'yes' };
    },
    forget: () => openai.batches.clear(),
    canceled: () => [...openai.batches.values()].filter((each) => each.isCanceled).length,
    ...completion('gpt-4o-mini', 'batch_1'),
  };
}

function gemini(): ProviderCase {
  const gemini = new GeminiServer();
  return {
    server: gemini.server,
    make: () => geminiBatches(endpointOf(gemini.server.url)),
    body: written('gemini-2.5-flash'),
    ids: asked,
    begins: /batchGenerateContent$/,
    asks: /^GET .*batches\/\d+$/,
    jobs: () => gemini.batches.size,
    failSecond: () => {
      gemini.answer = (key) => (key === 'two' ? undefined : 'yes');
    },
    forget: () => gemini.batches.clear(),
    canceled: () => [...gemini.batches.values()].filter((each) => each.isCanceled).length,
    ...completion('gemini-2.5-flash', 'batches/1'),
  };
}

function anthropic(): ProviderCase {
  const anthropic = new AnthropicServer();
  return {
    server: anthropic.server,
    make: () => anthropicBatches(endpointOf(anthropic.server.url), 8192),
    body: written('claude-haiku-4-5'),
    ids: asked,
    begins: /^POST .*batches$/,
    asks: /^GET .*batches\/msgbatch_\d+$/,
    jobs: () => anthropic.batches.size,
    failSecond: () => {
      anthropic.answer = (id) => (id === 'two' ? undefined : 'yes');
    },
    forget: () => anthropic.batches.clear(),
    canceled: () => [...anthropic.batches.values()].filter((each) => each.isCanceled).length,
    ...completion('claude-haiku-4-5', 'msgbatch_1'),
  };
}

export const providerCases: Readonly<Record<string, () => ProviderCase>> = {
  AZURE: azure,
  AWS: aws,
  GOOGLE: google,
  SARVAM: sarvam,
  OPENAI: openai,
  GEMINI: gemini,
  ANTHROPIC: anthropic,
};
