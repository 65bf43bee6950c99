/**
 * Refused callbacks: their sender is misconfigured or not a service of Pawl. Each is audited and
 * logged as a warning; of a flood only a limited number per minute, with the number of suppressed
 * ones.
 */
import type { FastifyRequest } from 'fastify';
import type { CallerContext } from '../access/caller.ts';
import { signatureHeader } from '../handoff/signature.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { Service } from '../service/service.ts';

const refusals: ReadonlySet<string> = new Set(['unauthorized', 'forbidden', 'job_unknown']);

export class RefusedCallbacks {
  readonly #parts: Pick<Service, 'audit' | 'world'>;
  #windowAt = Number.NEGATIVE_INFINITY;
  #said = 0;
  #unsaid = 0;

  constructor(parts: Pick<Service, 'audit' | 'world'>) {
    this.#parts = parts;
  }

  /** `callerOf` names the sender if it is not authenticated. */
  see(request: FastifyRequest, error: unknown, callerOf: () => CallerContext): void {
    const { config, url: route = 'unknown' } = request.routeOptions;
    const isCallback = config?.isInternal || request.headers[signatureHeader] !== undefined;
    if (!isCallback || !(error instanceof Failure) || !refusals.has(error.code)) return;
    if (!this.#hasCapacity()) {
      this.#unsaid += 1;
      return;
    }
    const { code, message: reason } = error;
    const { id } = (request.params ?? {}) as { id?: string };
    const unsaid = this.#unsaid === 0 ? undefined : this.#unsaid;
    const refused = { route, job_id: id, code, reason, unsaid };
    this.#unsaid = 0;
    request.log.warn(refused, 'callback refused');
    this.#parts.audit.emit('callback_refused', request.caller ?? callerOf(), refused);
  }

  #hasCapacity(): boolean {
    const now = this.#parts.world.now();
    const { refusalsMax, refusalsWindowMs } = limits.audit;
    if (now - this.#windowAt >= refusalsWindowMs) {
      this.#windowAt = now;
      this.#said = 0;
    }
    if (this.#said >= refusalsMax) return false;
    this.#said += 1;
    return true;
  }
}
