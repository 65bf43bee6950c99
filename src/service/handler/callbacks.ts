/** The orchestrator's routes for workers in other processes. */

import type { AnswerOf, BodyOf } from '../../contract/contract.ts';
import type { Completed, OrchestratorClient } from '../../handoff/orchestrator/callbacks.ts';
import { Failure, toFailure } from '../../kernel/failure/failure.ts';
import type { Stage } from '../../kernel/lifecycle/stage.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Ask, Handlers } from '../service.ts';

export function callbackRoutes(client: OrchestratorClient) {
  return {
    'POST /callbacks': async ({ body, request }) => {
      checkSigned(request);
      const replies = await Promise.all(body.calls.map((call) => replyTo(client, call)));
      return { replies: withinBytes(replies) };
    },
    'POST /jobs/:id/begin': async ({ params, body, request }) => {
      checkSigned(request);
      return begin(client, params.id, body);
    },
    'POST /jobs/:id/heartbeat': async ({ params, body, request }) => {
      checkSigned(request);
      return beat(client, params.id, body);
    },
    'POST /jobs/:id/complete': async ({ params, body, request }) => {
      if (body.handoff !== undefined) checkSigned(request);
      return complete(client, params.id, body);
    },
  } satisfies Partial<Handlers>;
}

type BatchedCall = BodyOf<'POST /callbacks'>['calls'][number];
type BatchedReply = AnswerOf<'POST /callbacks'>['replies'][number];

/** Its response; a refusal of one callback is not one of the others. */
async function replyTo(client: OrchestratorClient, call: BatchedCall): Promise<BatchedReply> {
  const { job_id: id } = call;
  try {
    if (call.begin) return { begin: await begin(client, id, call.begin) };
    if (call.heartbeat) return { heartbeat: await beat(client, id, call.heartbeat) };
    if (call.complete) return { complete: await complete(client, id, call.complete) };
    throw new Failure('bad_request', 'a callback needs `begin`, `heartbeat` or `complete`');
  } catch (error) {
    const { code, message } = toFailure(error);
    if (code !== 'job_unknown' && code !== 'bad_request') throw error;
    return { error: { code, detail: message } };
  }
}

/** A response has a limit: what it has no room for is requested again, and is not begun twice. */
function withinBytes(replies: readonly BatchedReply[]): BatchedReply[] {
  let length = 0;
  return replies.map((reply, index) => {
    const own = reply.begin?.bytes?.length ?? 0;
    if (index > 0 && own > 0 && length + own > limits.handoff.bytesMax) return {};
    length += own;
    return reply;
  });
}

async function begin(
  client: OrchestratorClient,
  id: string,
  body: BodyOf<'POST /jobs/:id/begin'>,
): Promise<AnswerOf<'POST /jobs/:id/begin'>> {
  const begun = await client.begin(id, body.handoff, body.worker, body.alone);
  if (begun.status === 'gone') return begun;
  if (begun.status === 'alone') return { status: 'alone', uptime_ms: begun.uptimeMs };
  const { bytes, ...rest } = begun;
  return { ...rest, ...(bytes && { bytes: Buffer.from(bytes).toString('base64') }) };
}

async function beat(
  client: OrchestratorClient,
  id: string,
  { leaving: isLeaving, ...rest }: BodyOf<'POST /jobs/:id/heartbeat'>,
): Promise<AnswerOf<'POST /jobs/:id/heartbeat'>> {
  return { status: (await client.beat(id, { ...rest, isLeaving })) ? 'ok' : 'gone' };
}

function complete(
  client: OrchestratorClient,
  id: string,
  body: BodyOf<'POST /jobs/:id/complete'>,
): Promise<Completed> {
  const { stage, handoff, epoch, item_id: itemId, result: value, bytes } = body;
  return client.complete(id, {
    stage: stage as Stage,
    handoff,
    epoch,
    itemId,
    value,
    bytes: bytes === undefined ? undefined : Buffer.from(bytes, 'base64'),
    failure: failureOf(body),
  });
}

/** A request that names a handoff could take it from the worker that runs it. */
function checkSigned({ isSigned }: Ask<'POST /jobs/:id/begin'>['request']): void {
  if (isSigned) return;
  throw new Failure('forbidden', 'a callback that names a handoff must be signed');
}

function failureOf(body: BodyOf<'POST /jobs/:id/complete'>) {
  if (body.status === 'success') return undefined;
  const { error_code: code, error_message: message, retry_after_ms, tries, retry, context } = body;
  if (code === undefined) {
    throw new Failure('bad_request', 'a failed stage must have an error_code');
  }
  return { code, message: message ?? code, retry_after_ms, tries, retry, context };
}
