/** The sentence that people read for a job: by its status and, if it failed, by the cause. */
import { isFailureCode } from './failure/failure.ts';
import { failureGroups, failures } from './failure/table.ts';
import {
  failedStageMessages,
  type Stage,
  type StageState,
  stageMessages,
} from './lifecycle/stage.ts';

/** The part of a stored error that decides the message. */
export interface FailedWith {
  readonly stage: string;
  readonly step: string;
  readonly code: string;
  /** `url` is the source: an address, a path, or absent. */
  readonly context: Readonly<Record<string, unknown>>;
}

export function jobMessage(status: StageState, error: FailedWith | null): string {
  if (status !== 'failed') return stageMessages[status];
  return error ? failedMessage(error) : failedStageMessages.embedding;
}

/** The file itself is unreachable: neither its address nor its format is to blame. */
const ownSentence: readonly string[] = ['source_missing', 'source_unreadable'];

/**
 * Fetching and extracting both belong to the stage `scraping`. A failure there is blamed on the
 * address only if there is one and it could not be fetched; otherwise on the content.
 */
export function failedMessage({ stage, step, code, context }: FailedWith): string {
  if (ownSentence.includes(code) && isFailureCode(code)) {
    return `${failures[code].title}. ${failures[code].advice}`;
  }
  if (stage !== 'scraping') return failedStageMessages[stage as Stage];
  const isUrl = typeof context.url === 'string' && /^https?:\/\//.test(context.url);
  const isFetching = Object.hasOwn(failureGroups['Fetching a source'], code);
  const isReading = Object.hasOwn(failureGroups['Reading a source'], code);
  // A step that times out has the same code for fetching and for extracting.
  const isFetch = step === 'fetched' ? !isReading : isFetching && code !== 'timeout_soft';
  return failedStageMessages[isUrl && isFetch ? 'scraping' : 'chunking'];
}
