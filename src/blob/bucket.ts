/**
 * A bucket of an S3 server: signed requests with a deadline, retried where a retry can help. The
 * signature covers the hash of each body, so the server verifies what it receives.
 */
import type { Agent, Dispatcher } from 'undici';
import { backoffMs } from '../kernel/backoff.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { pause, type World } from '../kernel/world.ts';
import { type AwsCredentials, signRequest } from '../provider/batch/signature.ts';

export interface BucketOptions {
  readonly bucket: string;
  /** The server; Amazon S3 if absent. */
  readonly endpoint?: string | undefined;
  readonly credentials: AwsCredentials;
  readonly world: World;
}

export interface Sending {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** The name of an object; empty for the bucket itself. */
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: SentBody;
}

export interface SentBody {
  readonly hash: string;
  readonly bytes: number;
  /** Opens the same bytes from the start, once per try. */
  open(): Uint8Array | AsyncIterable<Uint8Array>;
}

export type BucketResponse = Dispatcher.ResponseData;

const emptyHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const retried: readonly number[] = [408, 429, 500, 502, 503, 504];

export class Bucket {
  readonly #options: BucketOptions;
  readonly #root: string;
  #agent: Promise<Agent> | undefined;

  constructor(options: BucketOptions) {
    const { bucket, endpoint, credentials } = options;
    this.#options = options;
    const amazon = `s3.${credentials.region}.amazonaws.com`;
    // A bucket name with dots would not match the server's TLS certificate.
    const own = bucket.includes('.')
      ? `https://${amazon}/${bucket}`
      : `https://${bucket}.${amazon}`;
    this.#root = endpoint === undefined ? own : `${endpoint.replace(/\/+$/, '')}/${bucket}`;
  }

  get id(): string {
    return this.#options.bucket;
  }

  get name(): string {
    return `the bucket ${this.#options.bucket} at ${new URL(this.#root).host}`;
  }

  /** Sends a request. Undefined if the server says that the object does not exist. */
  async send(sending: Sending): Promise<BucketResponse | undefined> {
    const { world } = this.#options;
    const { triesMax, retryBaseMs: baseMs, retryCapMs: capMs } = limits.bucket;
    for (let attempt = 0; ; attempt += 1) {
      const isLast = attempt + 1 >= triesMax;
      try {
        const response = await this.#once(sending);
        const { statusCode: status } = response;
        if (status < 300) return response;
        const text = await response.body.text();
        if (status === 404 && !/NoSuchBucket/.test(text)) return undefined;
        if (isLast || !retried.includes(status)) throw this.#refusal(status, text, sending);
      } catch (error) {
        if (error instanceof Failure) throw error;
        if (isLast) throw this.#unavailable(error);
      }
      const policy = { failedTries: attempt, baseMs, capMs, factor: 2, random: world.random };
      await pause(world, backoffMs(policy));
    }
  }

  /** The whole response body. */
  async bytesOf({ body }: BucketResponse): Promise<Uint8Array> {
    try {
      return new Uint8Array(await body.arrayBuffer());
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  async close(): Promise<void> {
    await (await this.#agent)?.close();
  }

  async #once({ method, name, query = {}, headers = {}, body }: Sending): Promise<BucketResponse> {
    this.#agent ??= openAgent();
    const agent = await this.#agent;
    const { credentials, world } = this.#options;
    const url = new URL(`${this.#root}/${name}`);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const bodyHash = body?.hash ?? emptyHash;
    const sent = {
      ...headers,
      'x-amz-content-sha256': bodyHash,
      ...(body && { 'content-length': String(body.bytes) }),
    };
    const outgoing = { method, url, headers: sent, bodyHash };
    const proof = signRequest(outgoing, { credentials, service: 's3', now: world.now() });
    return agent.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method,
      headers: { ...sent, ...proof },
      body: body ? toBody(body.open()) : null,
    });
  }

  #refusal(status: number, text: string, { method, name }: Sending): Failure {
    const [, code = ''] = /<Code>([^<]{1,100})<\/Code>/.exec(text) ?? [];
    const message = `${this.name} answered ${status} ${code} to ${method} ${name}`;
    const context = { status };
    if (retried.includes(status)) return new Failure('provider_unavailable', message, { context });
    const isAuth = status === 401 || status === 403;
    return new Failure(isAuth ? 'provider_auth' : 'provider_bad_request', message, { context });
  }

  #unavailable(cause: unknown): Failure {
    const message = `${this.name} cannot be reached, or closed the connection`;
    return new Failure('provider_unavailable', message, { cause });
  }
}

/** Loaded with the first request: most processes have no bucket, and start faster without. */
async function openAgent(): Promise<Agent> {
  const { Agent: HttpAgent } = await import('undici');
  const { callMs } = limits.bucket;
  return new HttpAgent({ headersTimeout: callMs, bodyTimeout: callMs, connectTimeout: callMs });
}

function toBody(body: Uint8Array | AsyncIterable<Uint8Array>): Dispatcher.DispatchOptions['body'] {
  return body as Dispatcher.DispatchOptions['body'];
}
