/** Posts JSON to the server of a model. Its errors become failures of the provider. */
import { Failure } from '../kernel/failure/failure.ts';
import type { World } from '../kernel/world.ts';

export interface ModelPost {
  readonly url: string;
  /** For messages. */
  readonly model: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body: string;
  readonly world: World;
  /** For the request and the whole response. */
  readonly wholeMs: number;
  readonly signal: AbortSignal;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

export interface OpenPost {
  readonly response: Promise<Response>;
  /** The failure that an error of the request, or of reading the response, means. */
  failureOf(error: unknown): unknown;
  /** To be called when the response has been read, or is not needed any more. */
  end(): void;
}

export function openPost(post: ModelPost): OpenPost {
  const { url, model, headers, body, world, wholeMs, signal, fetch = globalThis.fetch } = post;
  const [overdue, ended] = [new AbortController(), new AbortController()];
  const stop = world.setTimer(() => overdue.abort(), wholeMs);
  const response = fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    // A redirect would send the key and the document to another host.
    redirect: 'error',
    signal: AbortSignal.any([signal, overdue.signal, ended.signal]),
  });
  return {
    response,
    failureOf: (error) => {
      if (error instanceof Failure || signal.aborted) return error;
      const late = `did not answer in ${wholeMs / 1000} s`;
      const what = overdue.signal.aborted ? late : 'cannot be reached';
      const message = `${model} at ${hostOf(url)} ${what}`;
      return new Failure('provider_unavailable', message, { cause: error });
    },
    end: () => {
      stop();
      ended.abort();
    },
  };
}

/** Posts, and passes the response to `use` while the time for it runs. */
export async function postToModel<T>(
  post: ModelPost,
  use: (response: Response) => Promise<T>,
): Promise<T> {
  const { response, failureOf, end } = openPost(post);
  try {
    return await use(await response);
  } catch (error) {
    throw failureOf(error);
  } finally {
    end();
  }
}

export function bearer(key: string | undefined): Readonly<Record<string, string>> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an invalid address';
}
