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
import type { BatchProvider, PollAnswer, ResultLine } from '../batch-provider.ts';
import type { Endpoint } from '../endpoint.ts';
import { polledBy } from '../kit.ts';

const words: Readonly<Record<string, Saying>> = {
  QUEUED: 'running',
  IN_PROGRESS: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
};

export function awsTranscriber(endpoint: Endpoint): BatchProvider {
  const call = (action: string, body: JsonObject, signal: AbortSignal) => {
    const target = { 'x-amz-target': `Transcribe.${action}` };
    return { body, headers: { 'content-type': 'application/x-amz-json-1.1', ...target }, signal };
  };
  const ask = (...what: Parameters<typeof call>) => endpoint.json('/', call(...what));
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
      const job = await get(token, signal).catch((error: unknown) => {
        if (!isUnknownJob(error)) throw error;
      });
      return textOf(job?.TranscriptionJobName);
    },
    submit: async ({ token, sources, language }, { signal }) => {
      const body = {
        TranscriptionJobName: token,
        Media: { MediaFileUri: sources[0] },
        ...(language === undefined ? { IdentifyLanguage: true } : { LanguageCode: language }),
      };
      await ask('StartTranscriptionJob', body, signal).catch((error: unknown) => {
        // It exists already, under the name that only we would give it.
        if (toFailure(error).context.reason !== 'ConflictException') throw error;
      });
      return token;
    },
    check: async (signal) => {
      await ask('ListTranscriptionJobs', { MaxResults: 1 }, signal);
      return 'its list of jobs was asked for';
    },
    poll: polledBy(async ({ externalId, sources }, signal) => {
      const job = await get(externalId, signal);
      checkSame(job.TranscriptionJobName, externalId);
      const said = sayingOf(words, job.TranscriptionJobStatus);
      if (said !== 'completed') {
        return { said, detail: textOf(job.FailureReason) ?? textOf(job.TranscriptionJobStatus) };
      }
      const link = needText(objectOf(job.Transcript).TranscriptFileUri, 'TranscriptFileUri');
      const [source = ''] = sources;
      return { said, results: () => resultsOf(endpoint, { link, source, externalId }, signal) };
    }, readError),
    cancel: async ({ externalId }, signal) => {
      const body = { TranscriptionJobName: externalId };
      // The response has no body.
      await endpoint.text('/', call('DeleteTranscriptionJob', body, signal));
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

const readError = (error: unknown): PollAnswer =>
  isUnknownJob(error) ? { said: 'gone', detail: toFailure(error).message } : sayingOfError(error);

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
    source,
    text: text.join('\n'),
    ...(textOf(language) && { language }),
    ...lasting(lastEndOf(objectOf(content.results))),
  };
  yield { id: source, isOk: true, value };
}

/** Every word has its time; the end of the last one is about the length of the recording. */
function lastEndOf({ items }: JsonObject): number {
  return listOf(items).reduce((end, { end_time: at }) => Math.max(end, Number(at) || 0), 0);
}
