/**
 * Azure AI Speech, batch transcription (REST, 2024-11-15). One job for all recordings; each result
 * is a file at its own address, and a report lists failed recordings. A job is recognized by its
 * display name.
 */
import type { Saying } from '../../../kernel/batch-decision.ts';
import { toFailure } from '../../../kernel/failure/failure.ts';
import type { JsonObject } from '../../../kernel/provider-state.ts';
import { checkSame, lasting, listOf, needText, objectOf, sayingOf, textOf } from '../answer.ts';
import type { BatchProvider, ResultLine } from '../batch-provider.ts';
import type { Endpoint } from '../endpoint.ts';
import { checkedBy, entriesOf, failedLine, findEntry, polledBy } from '../kit.ts';

const words: Readonly<Record<string, Saying>> = {
  NotStarted: 'running',
  Running: 'running',
  Succeeded: 'completed',
  Failed: 'failed',
};

const ticksInSecond = 10_000_000;
const version = 'api-version=2024-11-15';
const transcriptions = '/speechtotext/transcriptions';
const keptHours = 48;

export function azureTranscriber(endpoint: Endpoint): BatchProvider {
  return {
    name: 'AZURE',
    taskTypes: ['transcription'],
    split: 'together',
    merge: 'flat',
    modelsMax: 0,
    recognizedBy: 'list',
    refuses: (source) =>
      /^https?:\/\//.test(source) ? undefined : 'Azure reads http and https addresses',
    find: async ({ token }, { signal }) => {
      const filter = encodeURIComponent(`displayName eq '${token}'`);
      const path = `${transcriptions}?${version}&top=100&filter=${filter}`;
      const entries = pagesOf(endpoint, path, signal);
      const found = await findEntry(entries, ({ displayName }) => displayName === token);
      return found && selfOf(endpoint, found);
    },
    submit: async (job, { signal }) => {
      const body = {
        displayName: job.token,
        contentUrls: job.sources,
        locale: job.language ?? 'en-US',
        properties: { wordLevelTimestampsEnabled: false, timeToLiveHours: keptHours },
      };
      const made = await endpoint.json(`${transcriptions}:submit?${version}`, { body, signal });
      return selfOf(endpoint, made);
    },
    check: checkedBy(endpoint, `${transcriptions}?${version}&top=1`, 'transcriptions'),
    poll: polledBy(async ({ externalId }, signal) => {
      const answer = await endpoint.json(versioned(externalId), { signal });
      checkSame(versioned(needText(answer.self, 'self')), versioned(externalId));
      const said = sayingOf(words, answer.status);
      if (said === 'completed') {
        const files = needText(objectOf(answer.links).files, 'links.files');
        return { said, results: () => resultsOf(endpoint, versioned(files), signal) };
      }
      const { error } = objectOf(answer.properties);
      return { said, detail: textOf(objectOf(error).message) ?? textOf(answer.status) };
    }),
    cancel: async ({ externalId }, signal) => {
      await endpoint.text(versioned(externalId), { method: 'DELETE', signal });
      return true;
    },
  };
}

/**
 * The address of a job, as Azure returns it. An address to which our key must not be sent is
 * refused.
 */
function selfOf(endpoint: Endpoint, { self }: JsonObject): string {
  const address = needText(self, 'self');
  endpoint.at(address);
  return address;
}

/** Jobs of earlier API versions have the version in the path. */
function versioned(address: string): string {
  if (/[?&]api-version=|\/speechtotext\/v\d/.test(address)) return address;
  return `${address}${address.includes('?') ? '&' : '?'}${version}`;
}

function pagesOf(endpoint: Endpoint, path: string, signal: AbortSignal) {
  const next = (answer: JsonObject): string | undefined => textOf(answer['@nextLink']);
  return entriesOf(endpoint, { path, field: 'values', next }, signal);
}

async function* resultsOf(
  endpoint: Endpoint,
  files: string,
  signal: AbortSignal,
): AsyncGenerator<ResultLine, void> {
  for await (const file of pagesOf(endpoint, files, signal)) {
    const kind = textOf(file.kind);
    if (kind !== 'Transcription' && kind !== 'TranscriptionReport') continue;
    let content: JsonObject;
    try {
      const link = needText(objectOf(file.links).contentUrl, 'links.contentUrl');
      content = await endpoint.linked(link, signal);
    } catch (error) {
      const failure = toFailure(error);
      // An outage may end; an invalid file fails alone, and the others are read.
      if (failure.code === 'provider_unavailable' || failure.code === 'rate_limited') throw error;
      yield { id: undefined, odd: `${String(file.name ?? kind)}: ${failure.message}` };
      continue;
    }
    if (kind === 'Transcription') yield lineOf(content);
    else yield* failuresOf(content);
  }
}

function lineOf(content: JsonObject): ResultLine {
  const id = textOf(content.source);
  if (id === undefined) return { id: undefined, odd: 'a transcript that names no source' };
  const phrases = listOf(content.combinedRecognizedPhrases);
  const text = phrases.map(({ display }) => textOf(display) ?? '').join('\n');
  const ticks = Number(content.durationInTicks) / ticksInSecond;
  const seconds = Number.isFinite(ticks) ? ticks : Number(content.durationMilliseconds) / 1_000;
  return { id, isOk: true, value: { source: id, text, ...lasting(seconds) } };
}

function* failuresOf(report: JsonObject): Generator<ResultLine, void> {
  for (const { sourceUrl, status, errorMessage } of listOf(report.details)) {
    const id = textOf(sourceUrl);
    if (id === undefined || status !== 'Failed') continue;
    yield failedLine(id, textOf(errorMessage) ?? 'Azure could not transcribe it');
  }
}
