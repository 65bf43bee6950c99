/**
 * One GET across all its redirects, within limits of time and bytes. Every hop is parsed, resolved,
 * checked and connected again: a redirect can reach nothing that a first request could not.
 */
import type { Readable } from 'node:stream';
import { Failure, toFailure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import type { World } from '../../../kernel/world.ts';
import type { AllowedHosts } from '../address.ts';
import { readUrl } from '../url.ts';
import type { FetchResponse, Redirect } from '../verdict.ts';
import { acceptEncoding, type BodyBounds, decoderFor, readBody } from './body.ts';
import { type Connect, clientFor, systemConnect } from './connect.ts';
import { race } from './race.ts';
import { type Resolve, resolveTarget, systemResolve } from './resolve.ts';

/** Our user agent. Its first word is also our name in robots.txt. */
export const productToken = 'PawlBot';
export const userAgent = `${productToken}/0.1`;

/** Validators of an earlier response, for a conditional request. */
export interface Validators {
  /** The address that sent them: they are meaningless for another. */
  readonly url: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export interface GetRequest {
  readonly url: URL;
  readonly accept: string;
  readonly signal: AbortSignal;
  readonly redirectsMax: number;
  readonly bounds: BodyBounds;
  readonly validators?: Validators | undefined;
  /** The origin of the page, for a cross-origin request of a browser. */
  readonly origin?: string | undefined;
  /** Called before each hop, redirects included; throws to refuse it. */
  readonly beforeHop?: (url: URL) => Promise<void>;
}

/** The HTTP port. */
export interface Fetcher {
  get(request: GetRequest): Promise<FetchResponse>;
}

export interface FetcherOptions {
  readonly world: World;
  readonly allowed: AllowedHosts;
  readonly resolve?: Resolve;
  readonly connect?: Connect;
}

export function httpFetcher(options: FetcherOptions): Fetcher {
  const { world, allowed, resolve = systemResolve, connect = systemConnect } = options;
  return {
    get: async (request) => {
      const deadline = new AbortController();
      const cancel = world.setTimer(() => {
        const message = `${request.url.host} took longer than ${limits.fetch.wholeMs} ms`;
        deadline.abort(new Failure('timeout_soft', message));
      }, limits.fetch.wholeMs);
      const signal = AbortSignal.any([request.signal, deadline.signal]);
      try {
        return await follow({ ...request, signal }, { world, allowed, resolve, connect });
      } catch (error) {
        throw signal.aborted ? signal.reason : asFailure(error, request.url);
      } finally {
        cancel();
      }
    },
  };
}

type Effects = Required<FetcherOptions>;
type Hop = Omit<FetchResponse, 'redirects' | 'url'>;

async function follow(request: GetRequest, effects: Effects): Promise<FetchResponse> {
  const redirects: Redirect[] = [];
  const seen = new Set<string>();
  let { url } = request;
  for (;;) {
    if (seen.has(url.href) || redirects.length > request.redirectsMax) {
      const message = `${request.url.host} redirects in a circle or too often`;
      throw new Failure('redirect_loop', message, { context: { redirects: redirects.length } });
    }
    seen.add(url.href);
    await request.beforeHop?.(url);
    const hop = await getHop(url, request, effects);
    const location = locationOf(hop);
    if (location === undefined) return { ...hop, url, redirects };
    const to = readUrl(location, url.href);
    const isDowngrade = url.protocol === 'https:' && to.protocol === 'http:';
    redirects.push({ from: url.href, status: hop.status, to: to.href, isDowngrade });
    url = to;
  }
}

const redirecting = [301, 302, 303, 307, 308];

function locationOf({ status, headers }: Hop): string | undefined {
  if (!redirecting.includes(status)) return undefined;
  const location = headers.get('location');
  if (location !== undefined) return location;
  throw new Failure('bad_response', `the site answered ${status} and did not say where to go`);
}

async function getHop(url: URL, request: GetRequest, effects: Effects): Promise<Hop> {
  const { signal } = request;
  const target = await race(resolveTarget(url, effects), signal);
  const client = await clientFor(target, {
    connect: effects.connect,
    timers: effects.world,
    signal,
  });
  try {
    const { statusCode, headers, body } = await client.request({
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: headersFor(url, request),
      signal,
    });
    const known = headersOf(headers);
    const read = await readHop(statusCode, known, body, request);
    return { status: statusCode, headers: known, ...read };
  } finally {
    await client.destroy();
  }
}

function headersFor(url: URL, { accept, origin, validators }: GetRequest): Record<string, string> {
  const { etag, lastModified } = validators?.url === url.href ? validators : noValidators;
  return {
    'user-agent': userAgent,
    accept,
    'accept-encoding': acceptEncoding,
    ...(origin !== undefined && { origin }),
    ...(etag !== null && { 'if-none-match': etag }),
    ...(lastModified !== null && { 'if-modified-since': lastModified }),
  };
}

const noValidators = { etag: null, lastModified: null };

/** Only the start of an error page is read, and nothing of a redirect. */
function readHop(
  status: number,
  headers: ReadonlyMap<string, string>,
  body: Readable,
  { bounds, signal }: GetRequest,
) {
  if (redirecting.includes(status) || status === 304) {
    return { bytes: new Uint8Array(), wireBytes: 0, isCut: false };
  }
  if (status >= 400) {
    const { errorBytesMax } = limits.fetch;
    const errorBounds = { wireBytesMax: errorBytesMax, bytesMax: errorBytesMax, beyond: 'cut' };
    return readBody(body, decoderFor(headers.get('content-encoding') ?? ''), {
      bounds: errorBounds as BodyBounds,
      signal,
    });
  }
  const announced = Number(headers.get('content-length') ?? 0);
  if (bounds.beyond === 'fail' && announced > bounds.wireBytesMax) {
    const most = `${bounds.wireBytesMax} are the most`;
    const message = `the document is said to have ${announced} bytes, and ${most}`;
    throw new Failure('source_too_large', message);
  }
  return readBody(body, decoderFor(headers.get('content-encoding') ?? ''), { bounds, signal });
}

function headersOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Map<string, string> {
  const known = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) known.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return known;
}

/** Maps the client's errors that `toFailure` does not know. */
function asFailure(error: unknown, url: URL): Failure {
  const failure = toFailure(error);
  if (failure.code !== 'internal_error') return withoutAddress(failure, url);
  const {
    name = '',
    code = name,
    syscall,
  } = error instanceof Error ? (error as ErrorWithCode) : {};
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW') {
    const text = `the headers have more than ${limits.fetch.headerBytesMax} bytes`;
    return new Failure('bad_response', text, { cause: error });
  }
  if (isTls(code))
    return new Failure('certificate_invalid', `${url.host}: ${wordsFor(code)}`, { cause: error });
  // A protocol violation, a stream that ended early, or an error of the system or its resolver. If
  // a server switches protocols without a request, the client throws an assertion error.
  const isNetwork =
    /^(?:HPE_|HTTPParserError|UND_ERR|ERR_STREAM_|ERR_ASSERTION)/.test(code) ||
    syscall !== undefined;
  return isNetwork
    ? new Failure('network_error', `${url.host}: ${wordsFor(code)}`, { cause: error })
    : failure;
}

interface ErrorWithCode extends Error {
  readonly code?: string;
  readonly syscall?: string;
}

function isTls(code: string): boolean {
  return /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO$)/.test(code);
}

/** Socket errors contain the resolved address, which is not disclosed. */
function withoutAddress(failure: Failure, url: URL): Failure {
  if (failure.cause === undefined) return failure;
  const { code = failure.code } = failure.cause as ErrorWithCode;
  return new Failure(failure.code, `${url.host}: ${wordsFor(code)}`, { cause: failure.cause });
}

/** Texts for the most frequent errors; the others are shown as codes. */
const words: Readonly<Record<string, string>> = {
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host could not be looked up',
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'the connection was broken off',
  UND_ERR_SOCKET: 'the connection was broken off',
  ETIMEDOUT: 'it did not answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'it did not answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'it took the question, and did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'it stopped in the middle of its answer',
  EHOSTUNREACH: 'there is no way to it from here',
  ENETUNREACH: 'there is no way to it from here',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by nobody but itself',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS there: http may be meant, not https',
};

function wordsFor(code: string): string {
  const known = words[code];
  return known === undefined ? code : `${known} (${code})`;
}
