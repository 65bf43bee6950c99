/** The orchestrator's routes for workers in other processes. */

import type { BodyOf } from '../../contract/contract.ts';
import type { OrchestratorClient } from '../../handoff/orchestrator/callbacks.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import type { Stage } from '../../kernel/lifecycle/stage.ts';
import type { Ask, Handlers } from '../service.ts';

export function callbackRoutes(client: OrchestratorClient) {
  return {
    'POST /jobs/:id/begin': async ({ params, body, request }) => {
      checkSigned(request);
      const begun = await client.begin(params.id, body.handoff, body.worker, body.alone);
      if (begun.status === 'gone') return begun;
      if (begun.status === 'alone') return { status: 'alone', uptime_ms: begun.uptimeMs };
      const { bytes, ...rest } = begun;
      return { ...rest, ...(bytes && { bytes: Buffer.from(bytes).toString('base64') }) };
    },
    'POST /jobs/:id/heartbeat': async ({ params, body, request }) => {
      checkSigned(request);
      const { leaving: isLeaving, ...beat } = body;
      return { status: (await client.beat(params.id, { ...beat, isLeaving })) ? 'ok' : 'gone' };
    },
    'POST /jobs/:id/complete': async ({ params, body, request }) => {
      if (body.handoff !== undefined) checkSigned(request);
      const { stage, handoff, epoch, item_id: itemId, result: value, bytes } = body;
      return client.complete(params.id, {
        stage: stage as Stage,
        handoff,
        epoch,
        itemId,
        value,
        bytes: bytes === undefined ? undefined : Buffer.from(bytes, 'base64'),
        failure: failureOf(body),
      });
    },
  } satisfies Partial<Handlers>;
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
