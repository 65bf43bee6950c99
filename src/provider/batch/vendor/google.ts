/**
 * Google Speech-to-Text v2, batch recognition: one long-running operation per recording and model,
 * because results are inline for a single file only. It takes no name of ours, but its list of
 * operations repeats the request: an operation for the same file and model that is no older than
 * our intent is ours, or equivalent.
 */
import type { JsonObject } from '../../../kernel/provider-state.ts';
import { lasting, listOf, needText, objectOf, textOf } from '../answer.ts';
import type { BatchProvider, NewBatchJob, PollAnswer, ResultLine } from '../batch-provider.ts';
import type { Endpoint } from '../endpoint.ts';
import { failedLine, findEntry, googleOperations, jobCalls } from '../kit.ts';

export interface GoogleSpeechOptions {
  readonly endpoint: Endpoint;
  readonly project: string;
  readonly location: string;
}

/** Tolerance for clock skew. */
const clockSkewMs = 60_000;
const canceledCode = 1;
const modelDefault = 'long';

export function googleTranscriber(options: GoogleSpeechOptions): BatchProvider {
  const { endpoint, project, location } = options;
  const parent = `projects/${project}/locations/${location}`;
  return {
    name: 'GOOGLE',
    taskTypes: ['transcription'],
    split: 'source_and_model',
    merge: 'by_model',
    recognizedBy: 'list',
    refuses: (source) => (/^gs:\/\//.test(source) ? undefined : 'Google reads gs addresses'),
    find: async (job, { signal, intendedAt }) => {
      const operations = googleOperations(endpoint, `/v2/${parent}/operations`, signal);
      const found = await findEntry(operations, (each) => isOurs(each, job, intendedAt));
      return found && needText(found.name, 'name of an operation');
    },
    submit: async ({ sources, model, language }, { signal }) => {
      const body = {
        config: {
          autoDecodingConfig: {},
          model: model ?? modelDefault,
          languageCodes: [language ?? 'en-US'],
        },
        files: sources.map((uri) => ({ uri })),
        recognitionOutputConfig: { inlineResponseConfig: {} },
      };
      const path = `/v2/${parent}/recognizers/_:batchRecognize`;
      return needText((await endpoint.json(path, { body, signal })).name, 'name of an operation');
    },
    ...jobCalls(endpoint, {
      list: [`/v2/${parent}/operations?pageSize=1`, 'operations'],
      path: (id) => `/v2/${id}`,
      id: 'name',
      cancelPath: (id) => `/v2/${id}:cancel`,
      read: readOperation,
    }),
  };
}

function isOurs(operation: JsonObject, job: NewBatchJob, intendedAt: number): boolean {
  const { batchRecognizeRequest, createTime } = objectOf(operation.metadata);
  const request = objectOf(batchRecognizeRequest);
  const madeAt = Date.parse(textOf(createTime) ?? '');
  const files = listOf(request.files).map(({ uri }) => uri);
  return (
    madeAt >= intendedAt - clockSkewMs &&
    objectOf(request.config).model === (job.model ?? modelDefault) &&
    files.length === job.sources.length &&
    job.sources.every((source, index) => files[index] === source)
  );
}

function readOperation(operation: JsonObject): PollAnswer {
  if (operation.done !== true) return { said: 'running' };
  const error = objectOf(operation.error);
  const detail = textOf(error.message);
  if (error.code === canceledCode) return { said: 'canceled', detail };
  if (operation.error !== undefined) return { said: 'failed', detail };
  const results = objectOf(objectOf(operation.response).results);
  return { said: 'completed', results: () => resultsOf(results) };
}

async function* resultsOf(results: JsonObject): AsyncGenerator<ResultLine, void> {
  for (const [source, value] of Object.entries(results)) {
    const { error, inlineResult, transcript, metadata } = objectOf(value);
    const problem = objectOf(error);
    // A code of 0 means success, and JSON omits it.
    if ((problem.code ?? 0) !== 0) {
      yield failedLine(source, textOf(problem.message) ?? 'Google could not transcribe it');
      continue;
    }
    const spoken = listOf(objectOf(objectOf(inlineResult).transcript ?? transcript).results);
    const text = spoken.map(
      ({ alternatives }) => textOf(listOf(alternatives)[0]?.transcript) ?? '',
    );
    const own = objectOf(objectOf(objectOf(inlineResult).transcript).metadata);
    const billed = objectOf(metadata).totalBilledDuration ?? own.totalBilledDuration;
    const seconds = Number.parseFloat(textOf(billed) ?? '');
    const said = { source, text: text.join('\n').trim(), ...lasting(seconds) };
    yield { id: source, isOk: true, value: said };
  }
}
