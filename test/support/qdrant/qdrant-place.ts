/** The Qdrant of a test: the one whose address is given, or the fake one. */
import type { Cleanup } from '../temporary.ts';
import { QdrantServer } from './qdrant-server.ts';

/** A real server to run the same tests against; the tests remove what they create. */
export const realQdrant = process.env.PAWL_TEST_QDRANT_URL;
const key = process.env.PAWL_TEST_QDRANT_KEY;

export interface QdrantPlace {
  readonly url: string;
  readonly key: string | undefined;
  /** Of the names of the test's collections. */
  readonly prefix: string;
  /** The fake one, which has found no error in the requests when the test ends. */
  readonly server: QdrantServer | undefined;
}

export async function openQdrantPlace(t: Cleanup): Promise<QdrantPlace> {
  const prefix = `test-${crypto.randomUUID().slice(0, 8)}`;
  const server = realQdrant === undefined ? await new QdrantServer().start(t) : undefined;
  const place = { url: realQdrant ?? server?.url ?? '', key, prefix, server };
  t.after(async () => {
    if (server && server.wrongs.length > 0) throw new Error(server.wrongs.join('\n'));
    if (!server) await removeCollections(place);
  });
  return place;
}

interface StoredPoint {
  readonly payload: { readonly text: string; readonly generation: number };
}

/** The result of a call such as `GET /collections`. */
async function askQdrant({ url }: QdrantPlace, call: string, body?: object) {
  const [method = '', path = ''] = call.split(' ');
  const headers = {
    ...(key !== undefined && { 'api-key': key }),
    ...(body && { 'content-type': 'application/json' }),
  };
  const sent = body ? { body: JSON.stringify(body) } : {};
  const response = await fetch(`${url}${path}`, { method, headers, ...sent });
  return ((await response.json()) as { result: unknown }).result;
}

/** All points of the test, with what is stored beside their vectors. */
export async function pointsOf(place: QdrantPlace): Promise<StoredPoint[]> {
  const points: StoredPoint[] = [];
  for (const name of await collectionsOf(place)) {
    const call = `POST /collections/${encodeURIComponent(name)}/points/scroll`;
    const answer = await askQdrant(place, call, { limit: 1000, with_payload: true });
    points.push(...(answer as { points: StoredPoint[] }).points);
  }
  return points;
}

async function collectionsOf(place: QdrantPlace): Promise<string[]> {
  const answer = await askQdrant(place, 'GET /collections');
  const { collections } = answer as { collections: { name: string }[] };
  return collections.map(({ name }) => name).filter((name) => name.startsWith(place.prefix));
}

async function removeCollections(place: QdrantPlace): Promise<void> {
  for (const name of await collectionsOf(place)) {
    await askQdrant(place, `DELETE /collections/${encodeURIComponent(name)}`);
  }
}
