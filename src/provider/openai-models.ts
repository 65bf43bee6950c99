/** Requests the list of models from a server with OpenAI's interface, which is free. */
import { readBoundedText } from '../concurrency/bounded.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';

export interface ModelsRequest {
  /** Including the version: `https://api.openai.com/v1`. */
  readonly url: string;
  readonly key?: string | undefined;
  readonly signal: AbortSignal;
}

/** The names of its models; undefined if it responds but has no such list. */
export async function listModels({ url, key, signal }: ModelsRequest) {
  const address = new URL(`${url.replace(/\/+$/, '')}/models`);
  const { host } = address;
  try {
    const headers = { ...(key !== undefined && { authorization: `Bearer ${key}` }) };
    // A redirect would send the key to another host.
    const response = await fetch(address, { headers, redirect: 'error', signal });
    const { status } = response;
    if (status === 404 || status === 405 || status === 501) return undefined;
    if (status === 401 || status === 403) {
      throw new Failure('provider_auth', `${host} refused the key (${status})`);
    }
    if (status !== 200) throw new Failure('provider_unavailable', `${host} answered ${status}`);
    return namesIn(await readText(response));
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { cause } = error as { cause?: { code?: string } };
    const message = `${host} could not be asked for its models (${cause?.code ?? String(error)})`;
    throw new Failure('provider_unavailable', message, { cause: error });
  }
}

function readText({ body }: Response): Promise<string> {
  const { answerBytesMax } = limits.budget;
  const message = `a list of models of more than ${answerBytesMax} bytes`;
  return readBoundedText(body, answerBytesMax, () => new Failure('step_output_invalid', message));
}

function namesIn(text: string): readonly string[] | undefined {
  const { data } = JSON.parse(text) as { data?: readonly { id?: unknown }[] };
  return Array.isArray(data) ? data.map(({ id }) => String(id)) : undefined;
}
