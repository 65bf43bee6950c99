/** Sources and options of an ingestion, checked before anything is read or submitted. */
import { Failure } from '../kernel/failure/failure.ts';
import { expandSources, type SourceInput } from '../source/sources.ts';
import type { NewSource } from '../store/job/submit.ts';
import { abortable, asFailure } from './call/lifetime.ts';
import { checkObject } from './call/names.ts';
import type { EstimateOptions, IngestOptions } from './options.ts';
import type { Session } from './session.ts';

/** Fields of `POST /jobs` that are no options here: the sources, and the webhook of a service. */
const notOptions = ['corpus_name', 'url', 'urls', 'documents', 'crawl', 'webhook_url'];

/** Options that are not fields of `POST /jobs`, or have another form. */
const ownNames = {
  ingest: ['corpus', 'crawl', 'followLinks', 'onSkipped', 'resume', 'signal'],
  estimate: ['corpus', 'crawl', 'signal'],
} as const;

/** The sources of a job. An aborted signal rejects before anything is submitted. */
export async function checkedSources(
  session: Session,
  what: keyof typeof ownNames,
  inputs: readonly SourceInput[],
  options: IngestOptions | EstimateOptions,
): Promise<NewSource[]> {
  session.lifetime.check();
  await checkOptions(session, what, options);
  await checkInputs(session, what, inputs);
  const { signal } = options;
  signal?.throwIfAborted();
  const { followLinks, onSkipped } = options as IngestOptions;
  const expanding = asFailure(expandSources(inputs, { followLinks, onSkipped }));
  const sources = await (signal ? abortable(expanding, signal) : expanding);
  signal?.throwIfAborted();
  return sources;
}

async function checkOptions(
  { calls }: Session,
  what: keyof typeof ownNames,
  options: IngestOptions | EstimateOptions,
): Promise<void> {
  const { NewJob } = await import('../contract/schema/schema.ts');
  const fields = what === 'ingest' ? notOptions : Object.keys(NewJob.properties);
  await calls.read(NewJob, {
    what,
    given: options,
    fixed: Object.fromEntries(fields.map((name) => [name, undefined])),
    own: ownNames[what],
  });
  if (typeof options.corpus !== 'string') {
    throw new Failure('bad_request', `${what} needs the option corpus: the name of a corpus`);
  }
  if (options.crawl === undefined) return;
  const given = checkObject(`${what}.crawl`, options.crawl);
  const { crawl } = NewJob.properties;
  // The address of a crawl is its source, so any valid one will do.
  await calls.read(crawl, { what: `${what}.crawl`, given, fixed: { url: 'https://a.example' } });
}

async function checkInputs(
  { calls }: Session,
  what: string,
  inputs: readonly SourceInput[],
): Promise<void> {
  if (!Array.isArray(inputs)) {
    throw new Failure('bad_request', `the sources of ${what} are a list, not ${typeof inputs}`);
  }
  const { InlineDocument } = await import('../contract/schema/schema.ts');
  for (const [index, given] of inputs.entries()) {
    if (typeof given === 'string') continue;
    await calls.read(InlineDocument, { what: `${what}.sources.${index}`, given });
  }
}
