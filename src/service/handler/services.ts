/**
 * The services as synchronous routes, and the way onto their queues. What takes too long is
 * answered with 504: it may go on, and whoever has slow inputs uses the queue.
 */

import type { BodyOf } from '../../contract/contract.ts';
import { answered, type Reply, type RequestKind } from '../../handoff/request.ts';
import { Shape } from '../../handoff/shape.ts';
import { readAnswer, readParsed, readShown } from '../../handoff/visit-wire.ts';
import type { Works } from '../../handoff/worker/work.ts';
import { Failure, toFailure } from '../../kernel/failure/failure.ts';
import type { Stage } from '../../kernel/lifecycle/stage.ts';
import type { World } from '../../kernel/world.ts';
import type { Chunker } from '../../pipeline/chunk/chunker.ts';
import { plainText } from '../../pipeline/extract/plain-text.ts';
import type { Turns } from '../../pipeline/fetch/robots/domain-throttle.ts';
import { readUrl } from '../../pipeline/fetch/url.ts';
import type { Queue } from '../../queue/queue.ts';
import type { Enqueued } from '../enqueued.ts';
import { QueueRoom } from '../queue-capacity.ts';
import type { Ask, Handlers } from '../service.ts';
import { cutShape } from '../view/serializer.ts';

export interface WorkServices {
  readonly works: Works;
  readonly world: World;
  /** One page of a domain after the other. */
  readonly turns: Turns;
  readonly chunker?: Chunker | undefined;
  /** The model that is configured. */
  readonly model?: string | undefined;
  /** Vectors as they are stored, to numbers. */
  readonly decode?: ((vector: Uint8Array) => ArrayLike<number>) | undefined;
  /** Throws for an address that may not be read. */
  readonly checkUrl: (url: string) => void;
  readonly queues: Readonly<Partial<Record<'visit' | 'embed', Queue>>>;
  /** What came of messages for which no job was named. */
  readonly enqueued: Enqueued;
  /** How many messages may wait in one of them. */
  readonly queueDepthMax?: number | undefined;
  readonly syncMs: Readonly<Record<Stage, number>>;
  /** Told how long it took to cut a text. */
  readonly onCut?: ((seconds: number) => void) | undefined;
}

export function workRoutes(clients: WorkServices) {
  const rooms = roomsOf(clients);
  return {
    'POST /scrape': ({ body, reply }) =>
      within(clients, 'scraping', reply, (signal) => scrape(clients, body, signal)),
    'POST /chunk': ({ body, reply }) =>
      within(clients, 'chunking', reply, async (signal) => {
        const { chunker } = clients;
        if (!chunker) throw new Failure('route_unknown', 'this service does not cut texts');
        const startedAt = clients.world.now();
        try {
          const chunks = await chunker(body.text, signal);
          return { job_id: body.job_id ?? null, chunks: chunks.map(cutShape) };
        } finally {
          clients.onCut?.((clients.world.now() - startedAt) / 1000);
        }
      }),
    'POST /embed': ({ body, reply }) =>
      within(clients, 'embedding', reply, (signal) => embed(clients, body, signal)),
    'POST /enqueue': async (ask) => enqueue(clients, ask, rooms),
    'GET /enqueue/:id': async (ask) => fetchEnqueued(clients, ask),
  } satisfies Partial<Handlers>;
}

type Rooms = Readonly<Partial<Record<string, QueueRoom>>>;

/** What waits in the queues is theirs to bear: whoever would add to one that is full waits. */
function roomsOf({ queues, world, queueDepthMax: max }: WorkServices): Rooms {
  const rooms = Object.entries(queues).map(([kind, queue]) => {
    const count = async () => (await queue.depth()).waiting;
    return [kind, new QueueRoom({ count, world, max })];
  });
  return Object.fromEntries(rooms);
}

type Answering = Ask<'POST /scrape'>['reply'];

/** Runs within the time that a stage may take while somebody waits for the answer. */
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
    `it took longer than ${syncMs[stage]} ms; for slow inputs there is POST /enqueue`,
  );
  const cancel = world.setTimer(() => controller.abort(late), syncMs[stage]);
  // Of the answer, not of the request: that one is closed as soon as its body has been read.
  const leave = (): void => {
    if (!raw.writableEnded) controller.abort(new Failure('canceled', 'nobody waits any more'));
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

/** Nobody can have us call another model than the one that is configured. */
function modelOf({ model: own = '' }: WorkServices, asked: string | undefined): string {
  if (asked === undefined || asked === own) return own;
  throw new Failure('bad_request', `texts are embedded with ${own} here, and not with ${asked}`);
}

function workOf({ works }: WorkServices, kind: RequestKind) {
  const work = works[kind];
  if (work) return work;
  throw new Failure('route_unknown', 'this service does not do that');
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
  const told = shape.part('answer');
  const answer = told && readAnswer(told, bytes);
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

/** Only the direction of a vector means something: here it has the length 1. */
function unitVector(values: ArrayLike<number>): number[] {
  const list = Array.from(values);
  const length = Math.hypot(...list) || 1;
  return list.map((value) => Math.round((value / length) * 1e6) / 1e6);
}

async function enqueue(
  clients: WorkServices,
  { body, caller }: Ask<'POST /enqueue'>,
  rooms: Rooms,
) {
  const { url, texts, job_id: jobId } = body;
  const model = modelOf(clients, body.model);
  if ((url === undefined) === (texts === undefined)) {
    throw new Failure('bad_request', 'name either a url or texts');
  }
  if (jobId !== undefined && !caller.internal) {
    throw new Failure('forbidden', 'only services of Pawl may name a job that is called back');
  }
  if (url !== undefined) clients.checkUrl(url);
  const kind = url === undefined ? 'embed' : 'visit';
  const queue = clients.queues[kind];
  if (!queue) throw new Failure('bad_request', `this service has no queue for ${kind}`);
  const request = url === undefined ? { texts, model } : { source: url, isParsed: true };
  await rooms[kind]?.check();
  const { enqueued } = clients;
  const id = jobId === undefined ? await enqueued.open({ caller: caller.callerId, url }) : null;
  const told = id === null ? jobId : enqueued.jobIdOf(id);
  await queue.add([{ id: clients.world.uuid(), kind, jobId: told, request }]);
  rooms[kind]?.accepted(1);
  return { job_id: jobId ?? null, status: 'queued' as const, id };
}

async function fetchEnqueued(clients: WorkServices, { caller, params }: Ask<'GET /enqueue/:id'>) {
  const { status, url, value, bytes, error } = await clients.enqueued.read(
    caller.callerId,
    params.id,
  );
  const told = { id: params.id, page: null, vectors: null };
  if (status !== 'done' || !value) return { ...told, status, error: error ?? null };
  try {
    const result =
      url === undefined
        ? { vectors: vectorsOf(clients, { value, bytes }) }
        : { page: pageOf(url, { value, bytes }) };
    return { ...told, ...result, status, error: null };
  } catch (thrown) {
    const { code, message } = toFailure(thrown);
    return { ...told, status: 'failed' as const, error: { code, message } };
  }
}
