/**
 * Amazon Transcribe. One job per recording, with our name: a second job of the same name is
 * refused, so that nothing is started twice.
 */
import type { Saying } from '../../../kernel/batch-decision.ts';
import { toFailure } from '../../../kernel/failure/failure.ts';
import type { JsonObject } from '../../../kernel/provider-state.ts';
import {
  checkSame,
  lasting,
  listOf,
  needText,
  objectOf,
  sayingOf,
  sayingOfError,
  textOf,
} from '../answer.ts';
import type { BatchJobRef, BatchProvider, PollAnswer, ResultLine } from '../batch-provider.ts';
import type { Endpoint } from '../endpoint.ts';

const words: Readonly<Record<string, Saying>> = {
  QUEUED: 'running',
  IN_PROGRESS: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
};

export function awsTranscriber(endpoint: Endpoint): BatchProvider {
  const ask = (action: string, body: JsonObject, signal: AbortSignal): Promise<JsonObject> => {
    const headers = {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `Transcribe.${action}`,
    };
    return endpoint.json('/', { body, headers, signal });
  };
  const get = async (name: string, signal: AbortSignal): Promise<JsonObject> => {
    const answer = await ask('GetTranscriptionJob', { TranscriptionJobName: name }, signal);
    return objectOf(answer.TranscriptionJob);
  };
  return {
    name: 'AWS',
    taskTypes: ['transcription'],
    split: 'source',
    merge: 'flat',
    modelsMax: 0,
    recognizedBy: 'token',
    refuses: (source) => (/^s3:\/\//.test(source) ? undefined : 'Amazon reads s3 addresses'),
    find: async ({ token }, { signal }) => {
      try {
        return textOf((await get(token, signal)).TranscriptionJobName);
      } catch (error) {
        if (isUnknownJob(error)) return undefined;
        throw error;
      }
    },
    submit: async ({ token, sources, language }, { signal }) => {
      const body = {
        TranscriptionJobName: token,
        Media: { MediaFileUri: sources[0] },
        ...(language === undefined ? { IdentifyLanguage: true } : { LanguageCode: language }),
      };
      try {
        await ask('StartTranscriptionJob', body, signal);
      } catch (error) {
        // It exists already, under the name that only we would give it.
        if (toFailure(error).context.reason !== 'ConflictException') throw error;
      }
      return token;
    },
    check: async (signal) => {
      await ask('ListTranscriptionJobs', { MaxResults: 1 }, signal);
      return 'its list of jobs was asked for';
    },
    poll: (job, signal) => poll(job, { endpoint, get }, signal),
    cancel: async ({ externalId }, signal) => {
      const headers = {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': 'Transcribe.DeleteTranscriptionJob',
      };
      // The response has no body.
      await endpoint.text('/', { body: { TranscriptionJobName: externalId }, headers, signal });
      return true;
    },
  };
}

/** Amazon sends "bad request" where others send "not found". */
function isUnknownJob(error: unknown): boolean {
  const { context, message } = toFailure(error);
  const isNamed = context.reason === 'NotFoundException' || context.status === 404;
  return isNamed || (context.reason === 'BadRequestException' && /couldn't be found/.test(message));
}

async function poll(
  { externalId, sources }: BatchJobRef,
  {
    endpoint,
    get,
  }: { endpoint: Endpoint; get: (name: string, signal: AbortSignal) => Promise<JsonObject> },
  signal: AbortSignal,
): Promise<PollAnswer> {
  try {
    const job = await get(externalId, signal);
    checkSame(job.TranscriptionJobName, externalId);
    const said = sayingOf(words, job.TranscriptionJobStatus);
    if (said !== 'completed') {
      return { said, detail: textOf(job.FailureReason) ?? textOf(job.TranscriptionJobStatus) };
    }
    const link = needText(objectOf(job.Transcript).TranscriptFileUri, 'TranscriptFileUri');
    const [source = ''] = sources;
    return { said, results: () => resultsOf(endpoint, { link, source, externalId }, signal) };
  } catch (error) {
    return isUnknownJob(error)
      ? { said: 'gone', detail: toFailure(error).message }
      : sayingOfError(error);
  }
}

async function* resultsOf(
  endpoint: Endpoint,
  { link, source, externalId }: { link: string; source: string; externalId: string },
  signal: AbortSignal,
): AsyncGenerator<ResultLine, void> {
  const content = await endpoint.linked(link, signal);
  checkSame(content.jobName, externalId);
  const { transcripts, language_code: language } = objectOf(content.results);
  const text = listOf(transcripts).map(({ transcript }) => textOf(transcript) ?? '');
  const value = {
    ...{ source, text: text.join('\n') },
    ...(textOf(language) && { language }),
    ...lasting(lastEndOf(objectOf(content.results))),
  };
  yield { id: source, isOk: true, value };
}

/** Every word has its time; the end of the last one is about the length of the recording. */
function lastEndOf({ items }: JsonObject): number {
  return listOf(items).reduce((end, { end_time: at }) => Math.max(end, Number(at) || 0), 0);
}
