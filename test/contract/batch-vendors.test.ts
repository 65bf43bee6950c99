/** What the vendors' own packages say of their batch interfaces; see `docs/verified.md`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type {
  BatchProvider,
  NewBatchJob,
  ResultLine,
  SubmitContext,
} from '../../src/provider/batch/batch-provider.ts';
import { anthropicBatches } from '../../src/provider/batch/vendor/anthropic.ts';
import { azureTranscriber } from '../../src/provider/batch/vendor/azure.ts';
import { geminiBatches } from '../../src/provider/batch/vendor/gemini.ts';
import { openaiBatches } from '../../src/provider/batch/vendor/openai.ts';
import { sarvamTranscriber } from '../../src/provider/batch/vendor/sarvam.ts';
import { AnthropicServer } from '../support/batch/anthropic-server.ts';
import { AzureServer } from '../support/batch/azure-server.ts';
import { endpointOf } from '../support/batch/fixture.ts';
import { GeminiServer } from '../support/batch/gemini-server.ts';
import { GoogleServer } from '../support/batch/google-server.ts';
import { OpenaiServer } from '../support/batch/openai-server.ts';
import { googleAt } from '../support/batch/providers.ts';
import { SarvamServer } from '../support/batch/sarvam-server.ts';

const { signal } = new AbortController();

function contextOf(notes: Record<string, string> = {}): SubmitContext {
  const note = async (name: string, value: string): Promise<void> => {
    notes[name] = value;
  };
  return { signal, intendedAt: Date.now(), notes, note };
}

function recording(source: string, language?: string): NewBatchJob {
  const job = { taskType: 'transcription', token: 'pawl-1', model: undefined, language };
  return { ...job, sources: [source], async *requests() {} };
}

function question(model: string): NewBatchJob {
  return {
    ...{ taskType: 'completion', token: 'pawl-1', model, language: undefined, sources: [] },
    async *requests() {
      yield { custom_id: 'one', input: 'What is a pawl?' };
    },
  };
}

/** Submits a job, polls it until it has ended, and returns its results. */
async function resultsOf(provider: BatchProvider, job: NewBatchJob): Promise<ResultLine[]> {
  const externalId = await provider.submit(job, contextOf());
  const { taskType, token, model, sources } = job;
  const ref = { taskType, token, model, sources, externalId };
  for (let poll = 0; poll < 5; poll += 1) {
    const { said, results } = await provider.poll(ref, signal);
    if (said === 'completed') return all(results?.() ?? []);
    assert.equal(said, 'running');
  }
  return assert.fail('the job did not end');
}

async function all<T>(entries: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const entry of entries) list.push(entry);
  return list;
}

describe('Sarvam', () => {
  async function setup(t: { after(run: () => unknown): void }) {
    const server = new SarvamServer();
    await server.server.start(t);
    const read = async () => new TextEncoder().encode('sound');
    const provider = sarvamTranscriber({ endpoint: endpointOf(server.server.url), read });
    return { server, provider };
  }

  test('is asked for one of its present models, and for the length of the recording', async (t) => {
    const { server, provider } = await setup(t);
    const [line] = await resultsOf(provider, recording('https://media.example/one.wav'));
    assert.deepEqual([server.models, server.languages], [['saaras:v3'], ['unknown']]);
    assert.ok(line?.id !== undefined && line.isOk);
    assert.equal(line.value.duration_ms, 4120);
  });

  for (const [given, sent] of [
    ['hi', 'hi-IN'],
    ['or', 'od-IN'],
    ['en-IN', 'en-IN'],
  ] as const) {
    test(`gets the language ${given} as ${sent}`, async (t) => {
      const { server, provider } = await setup(t);
      await resultsOf(provider, recording('https://media.example/one.wav', given));
      assert.deepEqual(server.languages, [sent]);
    });
  }

  test('completes a job whose recording it could not read: that one has failed', async (t) => {
    const { server, provider } = await setup(t);
    server.transcribe = () => undefined;
    server.failedState = 'Completed';
    const source = 'https://media.example/one.wav';
    const [line] = await resultsOf(provider, recording(source));
    assert.deepEqual(line, { id: source, isOk: false, error: 'bad audio', isRetryable: false });
  });
});

describe('Azure Speech', () => {
  test('does not know a job that has expired, and confirms its deletion', async (t) => {
    const server = new AzureServer();
    await server.start(t);
    const provider = azureTranscriber(endpointOf(server.server.url));
    const job = recording('https://media.example/one.wav', 'de-DE');
    const externalId = await provider.submit(job, contextOf());
    const [{ locale, properties } = {}] = [...server.jobs.values()];
    assert.equal(locale, 'de-DE');
    assert.deepEqual(properties, { wordLevelTimestampsEnabled: false, timeToLiveHours: 48 });
    server.jobs.clear();
    const { taskType, token, model, sources } = job;
    const ref = { taskType, token, model, sources, externalId };
    assert.equal(await provider.cancel(ref, signal), true);
  });

  test('refuses properties and parameters that its interface does not have', async (t) => {
    const server = new AzureServer();
    await server.start(t);
    const at = `${server.server.url}/speechtotext/transcriptions`;
    const body = JSON.stringify({
      ...{ displayName: 'one', locale: 'en-US', contentUrls: ['https://media.example/one.wav'] },
      properties: { timeToLive: 'P2D', timeToLiveHours: 48 },
    });
    const submit = `${at}:submit?api-version=2024-11-15`;
    assert.equal((await fetch(submit, { method: 'POST', body })).status, 400);
    assert.equal((await fetch(`${at}?api-version=2024-11-15&orderby=locale`)).status, 400);
    assert.equal((await fetch(at)).status, 400);
  });
});

describe('Google Speech', () => {
  test('is recognized by its default model, if the task names none', async (t) => {
    const server = new GoogleServer();
    await server.server.start(t);
    const provider = googleAt(server.server.url);
    const job = recording('gs://talks/one.wav');
    const context = contextOf();
    const id = await provider.submit(job, context);
    assert.equal(await provider.find(job, context), id);
    assert.equal(await provider.find({ ...job, model: 'short' }, context), undefined);
  });

  test('may send an empty status with a transcript: that is success', async (t) => {
    const server = new GoogleServer();
    await server.server.start(t);
    const source = 'gs://talks/one.wav';
    const [line] = await resultsOf(googleAt(server.server.url), recording(source));
    const value = { source, text: `words of ${source}`, duration_ms: 4120 };
    assert.deepEqual(line, { id: source, isOk: true, value });
  });
});

describe('Gemini', () => {
  test('sends thoughts beside the answer: they are left out', async (t) => {
    const server = new GeminiServer();
    await server.server.start(t);
    const provider = geminiBatches(endpointOf(server.server.url));
    const [line] = await resultsOf(provider, question('gemini-2.5-flash'));
    assert.ok(line?.id !== undefined && line.isOk);
    assert.deepEqual(line.value, { text: 'response to one' });
  });

  test('says why a request was blocked', async (t) => {
    const server = new GeminiServer();
    await server.server.start(t);
    server.answer = () => 'blocked';
    const provider = geminiBatches(endpointOf(server.server.url));
    const [line] = await resultsOf(provider, question('gemini-2.5-flash'));
    const error = 'the request was blocked: SAFETY';
    assert.deepEqual(line, { id: 'one', isOk: false, error, isRetryable: false });
  });
});

describe('an answer that the model did not finish is not an answer', () => {
  for (const reason of ['refusal', 'model_context_window_exceeded', 'pause_turn']) {
    test(`Anthropic, with the stop reason ${reason}`, async (t) => {
      const server = new AnthropicServer();
      await server.server.start(t);
      server.stopReason = reason;
      const provider = anthropicBatches(endpointOf(server.server.url), 8192);
      const [line] = await resultsOf(provider, question('claude-haiku-4-5'));
      const error = `the model ended with ${reason}`;
      assert.deepEqual(line, { id: 'one', isOk: false, error, isRetryable: false });
    });
  }

  test('OpenAI, with a content filter', async (t) => {
    const server = new OpenaiServer();
    await server.start(t);
    server.answer = () => ({ content: 'A pawl is', finish: 'content_filter' });
    const [line] = await resultsOf(openaiBatches(endpointOf(server.url)), question('gpt-4o-mini'));
    const error = 'a content filter cut the answer';
    assert.deepEqual(line, { id: 'one', isOk: false, error, isRetryable: false });
  });
});
