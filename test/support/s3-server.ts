/**
 * An S3 server in memory, on loopback: fauxqs, which does not check signatures. So each signature
 * is computed here by Amazon's own signer, and compared; and so is the hash of each body.
 */
import assert from 'node:assert/strict';
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import { buildApp } from 'fauxqs';
import type { Cleanup } from './temporary.ts';

export const bucket = 'archive';
export const credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'eu-central-1',
};

interface StoredObject {
  readonly key: string;
  readonly body: Buffer;
  lastModified: Date;
}

interface Objects {
  createBucket(name: string): void;
  putObject(bucket: string, key: string, body: Buffer): StoredObject;
  getObject(bucket: string, key: string): StoredObject;
  listObjects(bucket: string): { objects: StoredObject[] };
}

export interface S3Trouble {
  readonly on: RegExp;
  readonly status: number;
  times: number;
  /** It is carried out first. */
  readonly isAfter?: boolean;
}

export interface S3Server {
  readonly endpoint: string;
  readonly objects: Objects;
  /** `PUT /archive/ab/…`, in order of arrival. */
  readonly calls: string[];
  readonly troubles: S3Trouble[];
  /** Called before each call is carried out. */
  onCall: (call: string) => Promise<void> | void;
}

export async function startS3(t: Cleanup): Promise<S3Server> {
  const stores = await storesOf();
  const app = buildApp({ logger: false, stores } as Parameters<typeof buildApp>[0]);
  const objects = stores.s3Store as Objects;
  objects.createBucket(bucket);
  const calls: string[] = [];
  const troubles: S3Trouble[] = [];
  const server = { endpoint: '', objects, calls, troubles, onCall: () => undefined } as {
    -readonly [K in keyof S3Server]: S3Server[K];
  };
  const troubled = (call: string, isAfter: boolean): S3Trouble | undefined => {
    const found = troubles.find(
      (each) => each.times > 0 && each.on.test(call) && (each.isAfter ?? false) === isAfter,
    );
    if (found) found.times -= 1;
    return found;
  };
  app.addHook('preHandler', async (request, reply) => {
    const call = `${request.method} ${request.url}`;
    calls.push(call);
    // An object may be empty; fauxqs takes that for no object.
    request.body ??= Buffer.alloc(0);
    await server.onCall(call);
    const wrong = await wrongWith(request as unknown as SignedRequest);
    if (wrong) return reply.code(403).send(`<Error><Code>${wrong}</Code></Error>`);
    const trouble = troubled(call, false);
    if (trouble)
      return reply.code(trouble.status).send('<Error><Code>InternalError</Code></Error>');
    return undefined;
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const isWell = reply.statusCode < 300;
    const trouble = isWell ? troubled(`${request.method} ${request.url}`, true) : undefined;
    if (trouble) reply.code(trouble.status);
    return payload;
  });
  server.endpoint = await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  return server;
}

/** Passed in, so that a test can make an object old. */
async function storesOf(): Promise<Record<'s3Store' | 'sqsStore' | 'snsStore', unknown>> {
  const load = async (path: string, name: string): Promise<unknown> => {
    const url = new URL(path, import.meta.resolve('fauxqs'));
    const made = (await import(url.href)) as Record<string, new () => unknown>;
    const Store = made[name];
    assert.ok(Store);
    return new Store();
  };
  return {
    s3Store: await load('./s3/s3Store.js', 'S3Store'),
    sqsStore: await load('./sqs/sqsStore.js', 'SqsStore'),
    snsStore: await load('./sns/snsStore.js', 'SnsStore'),
  };
}

interface SignedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | null;
}

async function wrongWith(request: SignedRequest): Promise<string | undefined> {
  const { authorization = '', 'x-amz-content-sha256': hash = '' } = request.headers;
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const isCopy = 'x-amz-copy-source' in request.headers;
  const own = createHash('sha256')
    .update(isCopy ? '' : body)
    .digest('hex');
  if (own !== hash) return 'XAmzContentSHA256Mismatch';
  return (await signatureOf(request, authorization)) === authorization
    ? undefined
    : 'SignatureDoesNotMatch';
}

async function signatureOf({ method, url, headers }: SignedRequest, given: string) {
  const [, names = ''] = /SignedHeaders=([^,]+)/.exec(given) ?? [];
  const signed = names.split(';').map((name) => [name, headers[name] ?? '']);
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
  const compact = /^(....)(..)(..)T(..)(..)(..)Z$/;
  const at = (headers['x-amz-date'] ?? '').replace(compact, '$1-$2-$3T$4:$5:$6Z');
  const { region } = credentials;
  const signer = new SignatureV4({
    ...{ service: 's3', region, credentials, uriEscapePath: false, applyChecksum: false },
    sha256: NodeSha256,
  });
  const request = {
    ...{ method, protocol: 'http:', hostname: headers.host ?? '', path: pathname },
    query: Object.fromEntries(searchParams),
    headers: Object.fromEntries(signed),
  };
  const answer = await signer.sign(request, { signingDate: new Date(at) });
  return answer.headers.authorization;
}

class NodeSha256 {
  #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined
        ? createHash('sha256')
        : createHmac('sha256', typeof secret === 'string' ? secret : Buffer.from(secret as Buffer));
  }

  update(chunk: string | Uint8Array): void {
    this.#hash.update(chunk);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = createHash('sha256');
  }
}
