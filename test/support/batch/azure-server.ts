/** Azure's batch transcription, as its OpenAPI document of the version 2024-11-15 describes it. */
import type { Cleanup } from '../temporary.ts';
import { type Call, type Handler, ProviderServer, type Reply } from './provider-server.ts';

interface Transcription {
  readonly id: string;
  readonly displayName: string;
  readonly locale: string;
  readonly contentUrls: readonly string[];
  readonly properties: object;
  polls: number;
}

export class AzureServer {
  readonly jobs = new Map<string, Transcription>();
  /** The outcome of a recording: its words, or an error. */
  transcribe: (url: string) => { text: string } | { error: string } = (url) => ({
    text: `words of ${url}`,
  });
  /** Polls that return NotStarted and Running before the last. */
  pollsToGo = 2;
  lastStatus = 'Succeeded';
  pageSize = 2;
  #made = 0;
  readonly server = new ProviderServer([
    [/^POST \/speechtotext\/transcriptions:submit$/, strict((call) => this.#create(call.json()))],
    [/^GET \/speechtotext\/transcriptions$/, strict((call) => this.#list(call.query))],
    [/^GET \/speechtotext\/transcriptions\/([\w-]+)$/, strict((_, [, id]) => this.#get(id))],
    [/^DELETE \/speechtotext\/transcriptions\/([\w-]+)$/, strict((_, [, id]) => this.#delete(id))],
    [
      /^GET \/speechtotext\/transcriptions\/([\w-]+)\/files$/,
      strict((call, [, id]) => this.#files(id, call.query)),
    ],
    [/^GET \/content\/([\w-]+)\/(\d+)$/, (_, [, id, index]) => this.#content(id, Number(index))],
    [/^GET \/report\/([\w-]+)$/, (_, [, id]) => this.#report(id)],
  ]);

  start(t: Cleanup): Promise<unknown> {
    return this.server.start(t);
  }

  /** The host in its links, if it differs from its address. */
  host: string | undefined;

  #self(id: string, more = ''): string {
    const host = this.host ?? this.server.url;
    return `${host}/speechtotext/transcriptions/${id}${more}?${version}`;
  }

  #create(body: Record<string, unknown>): Reply {
    const problem = problemOf(body);
    if (problem) return { status: 400, body: { code: 'InvalidPayload', message: problem } };
    this.#made += 1;
    const id = `t-${this.#made}`;
    const { displayName, locale, contentUrls, properties } = body as unknown as Transcription;
    const job = { id, displayName, locale, contentUrls, properties, polls: 0 };
    this.jobs.set(id, job);
    const headers = { location: this.#self(id) };
    return { status: 201, headers, body: this.#shape(job, 'NotStarted') };
  }

  /** The addresses of the recordings are not returned. */
  #shape(job: Transcription, status: string): Record<string, unknown> {
    const { id, displayName, locale, properties } = job;
    const error = { code: 'InvalidData', message: 'the audio cannot be read' };
    return {
      self: this.#self(id),
      displayName,
      locale,
      status,
      links: { files: this.#self(id, '/files') },
      properties: status === 'Failed' ? { ...properties, error } : properties,
    };
  }

  #list(query: URLSearchParams): Reply {
    const filter = /displayName eq '(.*)'/.exec(query.get('filter') ?? '')?.[1];
    const all = [...this.jobs.values()].filter(({ displayName }) => displayName === filter);
    return this.#page(
      all.map((job) => this.#shape(job, 'Running')),
      query,
      this.#self(''),
    );
  }

  #get(id = ''): Reply {
    const job = this.jobs.get(id);
    if (!job) return { status: 404, body: { code: 'NotFound', message: 'no such entity' } };
    job.polls += 1;
    const early = job.polls === 1 ? 'NotStarted' : 'Running';
    const status = job.polls <= this.pollsToGo ? early : this.lastStatus;
    return { body: this.#shape(job, status) };
  }

  #delete(id = ''): Reply {
    this.jobs.delete(id);
    // Also if it did not exist.
    return { status: 204 };
  }

  #files(id = '', query = new URLSearchParams()): Reply {
    const job = this.jobs.get(id);
    const files = (job?.contentUrls ?? []).flatMap((url, index) =>
      'text' in this.transcribe(url)
        ? [
            {
              name: `contenturl_${index}.json`,
              kind: 'Transcription',
              links: { contentUrl: `${this.server.url}/content/${id}/${index}` },
            },
          ]
        : [],
    );
    const report = {
      name: 'report.json',
      kind: 'TranscriptionReport',
      links: { contentUrl: `${this.server.url}/report/${id}` },
    };
    // Out of order, as in reality.
    return this.#page([report, ...files.reverse()], query, this.#self(id, '/files'));
  }

  #page(all: readonly unknown[], query: URLSearchParams, path: string): Reply {
    const skip = Number(query.get('skip') ?? 0);
    const values = all.slice(skip, skip + this.pageSize);
    const next = skip + this.pageSize;
    const nextLink = next < all.length ? { '@nextLink': `${path}&skip=${next}` } : {};
    return { body: { values, ...nextLink } };
  }

  #content(id = '', index = 0): Reply {
    const source = this.jobs.get(id)?.contentUrls[index] ?? '';
    const outcome = this.transcribe(source);
    const display = 'text' in outcome ? outcome.text : '';
    return {
      body: {
        source,
        durationInTicks: 41_200_000,
        combinedRecognizedPhrases: [{ channel: 0, display }],
      },
    };
  }

  #report(id = ''): Reply {
    const details = (this.jobs.get(id)?.contentUrls ?? []).map((sourceUrl) => {
      const outcome = this.transcribe(sourceUrl);
      return 'text' in outcome
        ? { sourceUrl, status: 'Succeeded' }
        : { sourceUrl, status: 'Failed', errorMessage: outcome.error, errorKind: 'InvalidAudio' };
    });
    return { body: { details } };
  }
}

const version = 'api-version=2024-11-15';
const parameters = ['api-version', 'skip', 'top', 'filter'];

/** Every call names the version of the interface. */
function strict(handler: Handler): Handler {
  return (call: Call, match) => {
    const refusal = (message: string) => ({
      status: 400,
      body: { code: 'InvalidRequest', message },
    });
    if (call.query.get('api-version') !== '2024-11-15') return refusal('api-version is missing');
    const extra = [...call.query.keys()].find((name) => !parameters.includes(name));
    return extra === undefined ? handler(call, match) : refusal(`${extra} is not a parameter`);
  };
}

/** What a new transcription may have; the rest of its description is read-only. */
const fields = [
  ...['displayName', 'description', 'locale', 'contentUrls', 'contentContainerUrl'],
  ...['model', 'dataset', 'properties', 'customProperties'],
];
const propertyNames = [
  ...['wordLevelTimestampsEnabled', 'displayFormWordLevelTimestampsEnabled', 'channels'],
  ...['destinationContainerUrl', 'punctuationMode', 'profanityFilterMode', 'timeToLiveHours'],
  ...['diarization', 'languageIdentification'],
];

function problemOf(body: Record<string, unknown>): string | undefined {
  const properties = (body.properties ?? {}) as Record<string, unknown>;
  const extra =
    Object.keys(body).find((name) => !fields.includes(name)) ??
    Object.keys(properties).find((name) => !propertyNames.includes(name));
  if (extra !== undefined) return `$.${extra}: The supplied value is invalid.`;
  for (const name of ['displayName', 'locale']) {
    if (typeof body[name] !== 'string' || body[name] === '') return `${name} is required`;
  }
  const urls = body.contentUrls;
  if (!Array.isArray(urls) || urls.length === 0 || urls.length > 1000) {
    return 'contentUrls must have 1 to 1000 entries';
  }
  if (!urls.every((url) => URL.canParse(url))) return 'contentUrls must be addresses';
  const hours = properties.timeToLiveHours;
  return Number.isInteger(hours) && Number(hours) >= 6 && Number(hours) <= 744
    ? undefined
    : 'properties.timeToLiveHours must be between 6 and 744';
}
