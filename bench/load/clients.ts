/** Clients of a loaded service: they search again and again, or follow all events. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Agent, request } from 'undici';
import { chanceFrom } from '../pipeline/pages.ts';

export interface Target {
  readonly address: string;
  readonly key: string;
  readonly agent: Agent;
  readonly corpus: string;
}

export interface Searched {
  readonly times: number[];
  readonly errors: string[];
}

const words = `harbour engine ledger village garden signal archive council bridge library weather
copper timber railway engineers Lisbon Vienna Nakamura`.split(/\s+/);

/** A client that is refused comes back after this. */
const afterErrorMs = 100;

/** Each client searches again as soon as it has its answer, until the signal. */
export async function searchUntil(
  target: Target,
  { clients, ended }: { readonly clients: number; readonly ended: AbortSignal },
): Promise<Searched> {
  const searched: Searched = { times: [], errors: [] };
  const client = async (_: unknown, seed: number): Promise<void> => {
    const chance = chanceFrom(seed + 1);
    const pick = () => words[Math.floor(chance() * words.length)] ?? '';
    while (!ended.aborted) {
      const startedAt = performance.now();
      const error = await search(target, `${pick()} ${pick()} ${pick()}`);
      searched.times.push(performance.now() - startedAt);
      if (error === undefined) continue;
      searched.errors.push(error);
      await pause(afterErrorMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return searched;
}

async function search(
  { address, key, agent, corpus }: Target,
  query: string,
): Promise<string | undefined> {
  const body = JSON.stringify({ corpus_name: corpus, query });
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  try {
    const answer = await request(`${address}/search`, {
      ...{ method: 'POST', headers, body, dispatcher: agent },
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) return `${answer.statusCode} ${text.slice(0, 200)}`;
    const { results } = JSON.parse(text) as { results: unknown[] };
    return results.length > 0 ? undefined : `no result for ${query}`;
  } catch (error) {
    return String(error);
  }
}

/** What a stream saw, in order. */
export interface Following {
  readonly seen: number[];
  /** Why it ended before it was asked to. */
  failure?: string;
}

export function follow({ address, key, agent }: Target, ended: AbortSignal): Following {
  const following: Following = { seen: [] };
  const read = async (): Promise<void> => {
    const { statusCode, body } = await request(`${address}/stream`, {
      ...{ headers: { 'x-api-key': key }, dispatcher: agent, signal: ended },
    });
    if (statusCode !== 200) throw new Error(`the stream answered ${statusCode}`);
    let rest = '';
    for await (const piece of body as AsyncIterable<Buffer>) {
      const lines = (rest + piece.toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith('id: ')) following.seen.push(Number(line.slice(4)));
      }
    }
    throw new Error('the stream ended');
  };
  read().catch((error) => {
    if (!ended.aborted) following.failure = String(error);
  });
  return following;
}
