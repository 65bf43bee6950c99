/**
 * Asks Membership whether a key is valid. A response is cached for a minute, and there is one
 * request per key at a time. If Membership cannot be reached, that is its own failure: it makes no
 * key invalid, and none valid.
 */
import { readBoundedText } from '../../concurrency/bounded.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { KeyHash } from '../key.ts';
import { Breaker, type Circuit } from '../limit/breaker.ts';
import { type Claims, findBadClaim, readReply } from './claims.ts';
import { type MembershipResponse, MemoryResponses, type ResponseCache } from './responses.ts';

export interface MembershipOptions {
  readonly url: string;
  readonly world: World;
  readonly fetch: typeof fetch;
  /** Responses that other processes received. */
  readonly answers?: ResponseCache | undefined;
}

const bounds = limits.membership;
const validStatuses: readonly number[] = [200, 201];
const invalidStatuses: readonly number[] = [401, 409];

export class Membership {
  readonly #options: MembershipOptions;
  readonly #address: string;
  readonly #near: MemoryResponses;
  readonly #breaker: Breaker;
  readonly #underWay = new Map<string, Promise<MembershipResponse>>();

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#address = addressOf(options.url);
    this.#near = new MemoryResponses(options.world);
    this.#breaker = new Breaker(options.world, {
      failuresMax: bounds.circuitFailuresMax,
      openMs: bounds.circuitOpenMs,
      probeMs: bounds.retryAfterMs,
    });
  }

  get status(): { readonly circuit: Circuit; readonly retryAfterMs: number } {
    return { circuit: this.#breaker.circuit, retryAfterMs: this.#breaker.waitMs() };
  }

  /** The cached response of this process: needs no turn of the event loop. */
  recall(hash: KeyHash): MembershipResponse | undefined {
    return this.#near.get(hash.hex);
  }

  ask(key: string, hash: KeyHash): Promise<MembershipResponse> {
    const underWay = this.#underWay.get(hash.hex);
    if (underWay !== undefined) return underWay;
    if (this.#underWay.size >= bounds.callsMax) {
      return Promise.reject(this.#unavailable('has too many concurrent key checks'));
    }
    const asking = this.#lookUp(key, hash).finally(() => this.#underWay.delete(hash.hex));
    this.#underWay.set(hash.hex, asking);
    return asking;
  }

  async #lookUp(key: string, hash: KeyHash): Promise<MembershipResponse> {
    const known = await this.#options.answers?.get(hash.hex);
    if (known !== undefined) {
      this.#near.set(hash.hex, known);
      return known.answer;
    }
    const answer = await this.#call(key);
    const ttlMs = answer.isValid ? bounds.cacheTtlMs : bounds.refusedTtlMs;
    this.#near.set(hash.hex, { answer, ttlMs });
    await this.#options.answers?.set(hash.hex, { answer, ttlMs });
    return answer;
  }

  async #call(key: string): Promise<MembershipResponse> {
    if (this.#breaker.waitMs() > 0) throw this.#unavailable('did not answer recently');
    let reply: Claims | 'invalid';
    try {
      reply = await this.#breaker.run(() => this.#post(key));
    } catch (error) {
      throw this.#unavailable('could not be reached', error);
    }
    if (reply === 'invalid') return { isValid: false };
    // One account with invalid claims says nothing about the service: the circuit does not count
    // it.
    const bad = findBadClaim(reply);
    if (bad === undefined) return { isValid: true, claims: reply };
    throw this.#unavailable(`answered with a ${bad} of the wrong shape`);
  }

  async #post(key: string): Promise<Claims | 'invalid'> {
    const { world, fetch } = this.#options;
    const deadline = new AbortController();
    const late = (): void => deadline.abort(new Error(`no response within ${bounds.timeoutMs} ms`));
    const cancel = world.setTimer(late, bounds.timeoutMs);
    try {
      const response = await fetch(this.#address, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ api_key: key }),
        // The key is sent only to the configured address.
        redirect: 'manual',
        signal: deadline.signal,
      });
      if (!validStatuses.includes(response.status)) {
        await response.body?.cancel();
        if (invalidStatuses.includes(response.status)) return 'invalid';
        throw new Error(`status ${response.status}`);
      }
      const claims = readReply(await readBody(response));
      if (claims === undefined) throw new Error('the body is not a JSON object');
      return claims;
    } finally {
      cancel();
    }
  }

  #unavailable(what: string, cause?: unknown): Failure {
    const retryAfterMs = Math.max(this.#breaker.waitMs(), bounds.retryAfterMs);
    return new Failure('membership_unavailable', `the Membership service ${what}`, {
      retryAfterMs,
      ...(cause !== undefined && { cause }),
    });
  }
}

function addressOf(url: string): string {
  const parsed = URL.parse(url);
  if (!/^https?:$/.test(parsed?.protocol ?? '') || parsed?.username || parsed?.password) {
    const message = 'the address of Membership must be an http or https URL without a user';
    throw new Failure('usage_error', message);
  }
  return `${url.replace(/\/+$/, '')}/auth`;
}

/** The body after decompression, counted while it arrives. */
function readBody({ body }: Response): Promise<string> {
  const { replyBytesMax } = bounds;
  return readBoundedText(body, replyBytesMax, () => new Error(`more than ${replyBytesMax} bytes`));
}
