/** The calls that adapters of HTTP interfaces share; a vendor fills in paths and fields. */
import { limits } from '../../kernel/limits/limits.ts';
import type { JsonObject } from '../../kernel/provider-state.ts';
import { checkSame, listOf, readLines, sayingOfError, textOf } from './answer.ts';
import type {
  BatchJobRef,
  BatchProvider,
  PollAnswer,
  ResultLine,
  SubmitContext,
} from './batch-provider.ts';
import type { Endpoint } from './endpoint.ts';

interface JobCalls {
  /** Path of a list that costs nothing to read, and what it lists. */
  readonly list: readonly [path: string, of: string];
  readonly path: (externalId: string) => string;
  /** The field that repeats the id of the job. */
  readonly id: string;
  readonly cancelPath: (externalId: string) => string;
  readonly read: (answer: JsonObject, job: BatchJobRef, signal: AbortSignal) => PollAnswer;
}

/** `check`, `poll` and `cancel` of a vendor whose jobs have one path each. */
export function jobCalls(
  endpoint: Endpoint,
  { list, path, id, cancelPath, read }: JobCalls,
): Required<Pick<BatchProvider, 'check' | 'poll' | 'cancel'>> {
  return {
    check: checkedBy(endpoint, ...list),
    poll: polledBy(async (job, signal) => {
      const answer = await endpoint.json(path(job.externalId), { signal });
      checkSame(answer[id], job.externalId);
      return read(answer, job, signal);
    }),
    cancel: async ({ externalId }, signal) => {
      await endpoint.text(cancelPath(externalId), { method: 'POST', signal });
      return true;
    },
  };
}

export function checkedBy(
  endpoint: Endpoint,
  path: string,
  listed: string,
): (signal: AbortSignal) => Promise<string> {
  return async (signal) => {
    await endpoint.json(path, { signal });
    return `its list of ${listed} was asked for`;
  };
}

/** A poll whose errors are answers about the job. */
export function polledBy(
  poll: BatchProvider['poll'],
  readError: (error: unknown) => PollAnswer = sayingOfError,
): BatchProvider['poll'] {
  return async (job, signal) => {
    try {
      return await poll(job, signal);
    } catch (error) {
      return readError(error);
    }
  };
}

interface PagedList {
  readonly path: string;
  /** The field that holds the entries of a page. */
  readonly field: string;
  readonly next: (answer: JsonObject) => string | undefined;
}

/** The entries of all pages, up to a bound. */
export async function* entriesOf(
  endpoint: Endpoint,
  { path: first, field, next }: PagedList,
  signal: AbortSignal,
): AsyncGenerator<JsonObject, void> {
  let path: string | undefined = first;
  for (let page = 0; path !== undefined && page < limits.batch.listPagesMax; page += 1) {
    const answer: JsonObject = await endpoint.json(path, { signal });
    yield* listOf(answer[field]);
    path = next(answer);
  }
}

/** Operations as Google lists them, in Gemini and elsewhere. */
export function googleOperations(
  endpoint: Endpoint,
  parent: string,
  signal: AbortSignal,
): AsyncGenerator<JsonObject, void> {
  const path = `${parent}?pageSize=100`;
  const next = ({ nextPageToken }: JsonObject): string | undefined => {
    const token = textOf(nextPageToken);
    return token && `${path}&pageToken=${encodeURIComponent(token)}`;
  };
  return entriesOf(endpoint, { path, field: 'operations', next }, signal);
}

export async function findEntry(
  entries: AsyncIterable<JsonObject>,
  isOurs: (entry: JsonObject) => boolean,
): Promise<JsonObject | undefined> {
  for await (const entry of entries) if (isOurs(entry)) return entry;
  return undefined;
}

/** A step of a submission that a later attempt does not repeat. */
export async function notedOnce(
  { notes, note }: SubmitContext,
  name: string,
  step: () => Promise<string>,
): Promise<string> {
  const noted = notes[name];
  if (noted !== undefined) return noted;
  const made = await step();
  await note(name, made);
  return made;
}

/** Results in lines of JSON, from each of the files that exist. */
export async function* linesAt(
  endpoint: Endpoint,
  paths: readonly (string | undefined)[],
  { read, signal }: { read: (line: JsonObject) => ResultLine; signal: AbortSignal },
): AsyncGenerator<ResultLine, void> {
  for (const path of paths) {
    if (path !== undefined) yield* readLines(endpoint.bytes(path, { signal }), read);
  }
}

/** Reads a line that must carry the id of its request. */
export function lineReader(
  field: string,
  read: (id: string, line: JsonObject) => ResultLine,
): (line: JsonObject) => ResultLine {
  return (line) => {
    const id = textOf(line[field]);
    return id === undefined ? { id, odd: `a line without ${field}` } : read(id, line);
  };
}

export function failedLine(id: string, error: string, isRetryable = false): ResultLine {
  return { id, isOk: false, error, isRetryable };
}
