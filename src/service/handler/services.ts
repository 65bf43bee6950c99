/**
 * The services as synchronous routes, and as queues. A request that takes too long is answered with
 * 504, while its work may continue; slow inputs belong on the queue.
 */

import type { BodyOf } from '../../contract/contract.ts';
import { answered, type Reply, type RequestKind } from '../../handoff/request.ts';
import { Shape } from '../../handoff/shape.ts';
import { readAnswer, readParsed, readShown } from '../../handoff/visit-wire.ts';
import type { Works } from '../../handoff/worker/work.ts';
import { Failure, toFailure } from '../../kernel/failure/failure.ts';
import type { Stage } from '../../kernel/lifecycle/stage.ts';
import { changedChunking, defaultChunking } from '../../kernel/text/chunking.ts';
import type { World } from '../../kernel/world.ts';
import type { Chunker } from '../../pipeline/chunk/chunker.ts';
import { plainText } from '../../pipeline/extract/plain-text.ts';
import type { Turns } from '../../pipeline/fetch/robots/domain-throttle.ts';
import { readUrl } from '../../pipeline/fetch/url.ts';
import type { Queue } from '../../queue/queue.ts';
import type { Enqueued } from '../enqueued.ts';
import { QueueCapacity } from '../queue-capacity.ts';
import type { Ask, Handlers } from '../service.ts';
import { cutShape } from '../view/serializer.ts';

export interface WorkServices {
  readonly works: Works;
  readonly world: World;
  /** One page per domain at a time. */
  readonly turns: Turns;
  readonly chunker?: Chunker | undefined;
  /** The configured model. */
  readonly model?: string | undefined;
  /** Converts stored vectors to numbers. */
  readonly decode?: ((vector: Uint8Array) => ArrayLike<number>) | undefined;
  /** Throws for a forbidden address. */
  readonly checkUrl: (url: string) => void;
  readonly queues: Readonly<Partial<Record<'visit' | 'embed', Queue>>>;
  /** The results of messages without a job. */
  readonly enqueued: Enqueued;
  /** The maximum length of each queue. */
  readonly queueDepthMax?: number | undefined;
  readonly syncMs: Readonly<Record<Stage, number>>;
  /** Called with the duration of chunking a text. */
  readonly onCut?: ((seconds: number) => void) | undefined;
}

export function workRoutes(clients: WorkServices) {
  const capacities = capacitiesOf(clients);
  return {
    'POST /scrape': ({ body, reply }) =>
      within(clients, 'scraping', reply, (signal) => scrape(clients, body, signal)),
    'POST /chunk': ({ body, reply }) =>
      within(clients, 'chunking', reply, async (signal) => {
        const { chunker } = clients;
        if (!chunker) throw new Failure('route_unknown', 'this service does not chunk texts');
        const startedAt = clients.world.now();
        try {
          const { chunk_tokens: tokensMax, chunk_overlap_tokens: overlapTokens } = body;
          const chunking = changedChunking(defaultChunking, { tokensMax, overlapTokens });
          const chunks = await chunker(body.text, signal, chunking);
          return { job_id: body.job_id ?? null, chunks: chunks.map(cutShape) };
        } finally {
          clients.onCut?.((clients.world.now() - startedAt) / 1000);
        }
      }),
    'POST /embed': ({ body, reply }) =>
      within(clients, 'embedding', reply, (signal) => embed(clients, body, signal)),
    'POST /enqueue': async (ask) => enqueue(clients, ask, capacities),
    'GET /enqueue/:id': async (ask) => fetchEnqueued(clients, ask),
  } satisfies Partial<Handlers>;
}

type QueueCapacities = Readonly<Partial<Record<string, QueueCapacity>>>;

/** A full queue of a service refuses new messages. */
function capacitiesOf({ queues, world, queueDepthMax: max }: WorkServices): QueueCapacities {
  const capacities = Object.entries(queues).map(([kind, queue]) => {
    const count = async () => (await queue.depth()).waiting;
    return [kind, new QueueCapacity({ count, world, max })];
  });
  return Object.fromEntries(capacities);
}

type Answering = Ask<'POST /scrape'>['reply'];

/** Runs within the time limit of a synchronous stage. */
async function within<T>(
  { world, syncMs }: WorkServices,
  stage: Stage,
  { raw }: Answering,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const late = new Failure(
    'timeout_soft',
    `it took longer than ${syncMs[stage]} ms; use POST /enqueue for slow inputs`,
  );
  const cancel = world.setTimer(() => controller.abort(late), syncMs[stage]);
  // Listens to the response: the request is closed as soon as its body is read.
  const leave = (): void => {
    if (!raw.writableEnded)
      controller.abort(new Failure('canceled', 'the client has disconnected'));
  };
  raw.once('close', leave);
  try {
    const ended = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    return await Promise.race([run(signal), ended]);
  } finally {
    raw.off('close', leave);
    cancel();
  }
}

/** A caller cannot choose another model than the configured one. */
function modelOf({ model: own = '' }: WorkServices, asked: string | undefined): string {
  if (asked === undefined || asked === own) return own;
  throw new Failure('bad_request', `this service embeds with ${own}, not with ${asked}`);
}

function workOf({ works }: WorkServices, kind: RequestKind) {
  const work = works[kind];
  if (work) return work;
  throw new Failure('route_unknown', 'this service does not have this role');
}

async function scrape(clients: WorkServices, body: BodyOf<'POST /scrape'>, signal: AbortSignal) {
  clients.checkUrl(body.url);
  const visit = workOf(clients, 'visit');
  const request = { source: body.url, isParsed: true };
  const context = { signal, progress: () => undefined };
  const reply = await clients.turns.take(readUrl(body.url).host, signal, () =>
    visit({ kind: 'visit', request }, context),
  );
  return { job_id: body.job_id ?? null, ...pageOf(body.url, answered(reply)) };
}

function pageOf(url: string, { value, bytes = new Uint8Array() }: Reply) {
  const shape = new Shape(value, 'visit');
  const sent = shape.part('answer');
  const answer = sent && readAnswer(sent, bytes);
  const page = shape.part('shown');
  const parsed = shape.part('parsed');
  const failure = shape.part('parseFailure');
  if (failure) throw refusedBy(failure);
  if (!answer || !page || !parsed) {
    throw new Failure('parse_crashed', `${url} could not be read this time`);
  }
  const { title, language, markdown, meta } = readParsed(parsed);
  return {
    url,
    final_url: answer.url.href,
    media_type: readShown(page, answer).content.mediaType,
    title,
    language,
    text: plainText(markdown),
    markdown,
    meta,
  };
}

function refusedBy(shape: Shape): Failure {
  return new Failure(shape.text('code') as Failure['code'], shape.text('message'));
}

async function embed(clients: WorkServices, body: BodyOf<'POST /embed'>, signal: AbortSignal) {
  const work = workOf(clients, 'embed');
  const { texts, job_id: jobId = null } = body;
  const model = modelOf(clients, body.model);
  const context = { signal, progress: () => undefined };
  const reply = await work({ kind: 'embed', request: { texts, model } }, context);
  return { job_id: jobId, ...vectorsOf(clients, answered(reply)) };
}

function vectorsOf({ decode }: WorkServices, { value, bytes = new Uint8Array() }: Reply) {
  const shape = new Shape(value, 'embed');
  const count = shape.number('count');
  const size = bytes.length / count;
  const embeddings = Array.from({ length: count }, (_, place) => {
    const vector = bytes.subarray(place * size, (place + 1) * size);
    return unitVector(decode?.(vector) ?? vector);
  });
  return {
    model: shape.text('model'),
    dimensions: embeddings[0]?.length ?? 0,
    embeddings,
    tokens: shape.number('tokensIn'),
    cost_cents: shape.number('costCents'),
  };
}

/** Only the direction of a vector matters, so it is scaled to length 1. */
function unitVector(values: ArrayLike<number>): number[] {
  const list = Array.from(values);
  const length = Math.hypot(...list) || 1;
  return list.map((value) => Math.round((value / length) * 1e6) / 1e6);
}

async function enqueue(
  clients: WorkServices,
  { body, caller }: Ask<'POST /enqueue'>,
  capacities: QueueCapacities,
) {
  const { url, texts, job_id: jobId } = body;
  const model = modelOf(clients, body.model);
  if ((url === undefined) === (texts === undefined)) {
    throw new Failure('bad_request', 'send either a url or texts');
  }
  if (jobId !== undefined && !caller.internal) {
    throw new Failure('forbidden', 'only services of Pawl may name a job to call back');
  }
  if (url !== undefined) clients.checkUrl(url);
  const kind = url === undefined ? 'embed' : 'visit';
  const queue = clients.queues[kind];
  if (!queue) throw new Failure('bad_request', `this service has no queue for ${kind}`);
  const request = url === undefined ? { texts, model } : { source: url, isParsed: true };
  await capacities[kind]?.check();
  const { enqueued } = clients;
  const id = jobId === undefined ? await enqueued.open({ caller: caller.callerId, url }) : null;
  const calledBack = id === null ? jobId : enqueued.jobIdOf(id);
  await queue.add([{ id: clients.world.uuid(), kind, jobId: calledBack, request }]);
  capacities[kind]?.accepted(1);
  return { job_id: jobId ?? null, status: 'queued' as const, id };
}

async function fetchEnqueued(clients: WorkServices, { caller, params }: Ask<'GET /enqueue/:id'>) {
  const { status, url, value, bytes, error } = await clients.enqueued.read(
    caller.callerId,
    params.id,
  );
  const empty = { id: params.id, page: null, vectors: null };
  if (status !== 'done' || !value) return { ...empty, status, error: error ?? null };
  try {
    const result =
      url === undefined
        ? { vectors: vectorsOf(clients, { value, bytes }) }
        : { page: pageOf(url, { value, bytes }) };
    return { ...empty, ...result, status, error: null };
  } catch (thrown) {
    const { code, message } = toFailure(thrown);
    return { ...empty, status: 'failed' as const, error: { code, message } };
  }
}
