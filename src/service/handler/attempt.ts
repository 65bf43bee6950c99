/** The interactive attempt: its staged sources, and its actions. */
import type { MultipartFile, MultipartValue } from '@fastify/multipart';
import type { StagedSource, StagingRequest } from '../../attempt/staging/staging.ts';
import { viewOfSource } from '../../attempt/view.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Ask, Handlers, Service } from '../service.ts';
import { attemptShape, stagedShape } from '../view/attempt.ts';

export function attemptRoutes(service: Service) {
  const { attempt } = service;
  return {
    'GET /attempt': async ({ caller }) => attemptShape(attempt.look(caller.callerId)),
    'POST /attempt/start': async ({ caller, body, log }) => {
      const { name } = await service.corpora.target(caller.callerId, body.corpus_name);
      const view = await attempt.start(caller.callerId, name);
      log.info({ attempt_id: view.attemptId }, 'attempt started');
      return attemptShape(view);
    },
    'POST /attempt/stop': async ({ caller }) => attemptShape(attempt.stop(caller.callerId)),
    'POST /attempt/resume': async ({ caller }) => attemptShape(attempt.resume(caller.callerId)),
    'GET /staging': async ({ caller }) => ({
      items: attempt.sources(caller.callerId).map(stagedShape),
      next_cursor: null,
    }),
    'POST /staging': (ask) => stage(service, ask),
    'DELETE /staging': async ({ caller, query }) => {
      const { callerId } = caller;
      const all = () => attempt.sources(callerId).map(({ id }) => id);
      const ids = query.id === undefined ? all() : [...new Set(query.id.split(','))];
      return { removed: await attempt.remove(callerId, ids) };
    },
  } satisfies Partial<Handlers>;
}

/** All sources of one request are staged, or none. */
async function stage(service: Service, ask: Ask<'POST /staging'>) {
  const request = service.attempt.staging.open(ask.caller.callerId);
  try {
    for await (const part of ask.request.parts({ limits: partLimits })) {
      if (part.type === 'field' && part.fieldname === 'corpus_name') {
        const { name } = await service.corpora.target(ask.caller.callerId, String(part.value));
        request.into(name);
      } else await stagePart(service, request, part);
    }
  } catch (error) {
    await request.drop();
    throw error;
  }
  const staged = await request.commit();
  if (staged.length === 0) throw new Failure('sources_empty', 'the request contains no sources');
  ask.log.info({ sources: staged.length }, 'staged');
  return { items: staged.map((source) => stagedShape(viewOfSource({ staged: source }))) };
}

const partLimits = {
  fields: limits.attempt.sourcesMax,
  fieldSize: limits.fetch.urlCharactersMax,
  files: limits.attempt.sourcesMax,
  parts: limits.attempt.sourcesMax,
};

function stagePart(
  { isLocal }: Service,
  request: StagingRequest,
  part: MultipartFile | MultipartValue,
): Promise<StagedSource> {
  if (part.type === 'file') {
    return request.upload({ name: part.filename ?? '', pieces: whole(part) });
  }
  const { fieldname, value } = part;
  if (typeof value === 'string' && fieldname === 'url') return request.url(value);
  if (typeof value !== 'string' || fieldname !== 'path') {
    const known = 'a file, or a field corpus_name, url or path';
    const message = `${JSON.stringify(fieldname)} is not ${known}`;
    throw new Failure('bad_request', message);
  }
  // A caller that may name a path reads with the rights of this process.
  if (!isLocal)
    throw new Failure('forbidden', 'only local callers may name paths: upload the files instead');
  return request.path(value);
}

async function* whole(part: MultipartFile): AsyncGenerator<Buffer> {
  yield* part.file as AsyncIterable<Buffer>;
  if (!part.file.truncated) return;
  const bound = limits.document.sourceBytesMax;
  throw new Failure('source_too_large', `${part.filename} is larger than ${bound} bytes`);
}
