/**
 * A Qdrant for tests on a free port. It validates every request, and its own responses, by Qdrant's
 * published schema, stores points, and searches them exactly. It shows that a request is valid; it
 * does not prove how a real Qdrant handles it.
 */
import { type Call, type Handler, ProviderServer, type Reply } from '../batch/provider-server.ts';
import type { Cleanup } from '../temporary.ts';
import { cosine, type Filter, matches, type Point } from './points.ts';
import { PublishedSchema } from './published-schema.ts';

interface Collection {
  readonly size: number;
  readonly points: Map<string, Point>;
  readonly indexes: Map<string, unknown>;
}

interface Body {
  readonly vectors: { readonly size: number };
  readonly points: readonly Point[];
  readonly operations: readonly Update[];
  readonly field_name: string;
  readonly field_schema: unknown;
  readonly filter?: Filter;
  readonly query: number[];
  readonly limit: number;
  readonly with_payload: readonly string[];
}

interface Update {
  readonly set_payload?: { readonly payload: Record<string, unknown>; readonly filter: Filter };
  readonly delete?: { readonly filter: Filter };
}

type Serve = (
  at: { readonly name: string; readonly collection: Collection },
  body: Body,
) => unknown;

const known = '/collections/{collection_name}';

export class QdrantServer {
  readonly collections = new Map<string, Collection>();
  /** Errors in requests or responses. */
  readonly wrongs: string[] = [];
  readonly http: ProviderServer;
  /** The required key, if any. */
  key: string | undefined;
  readonly #schema = new PublishedSchema();

  constructor() {
    this.http = new ProviderServer([
      this.#route('GET', '/', () => ({
        title: 'qdrant - vector search engine',
        version: '1.19.0',
      })),
      this.#route('GET', '/collections', () => ({
        collections: [...this.collections.keys()].map((name) => ({ name })),
      })),
      this.#route('GET', `${known}/exists`, ({ name }) => ({ exists: this.collections.has(name) })),
      this.#route('PUT', known, ({ name }, { vectors }) => this.#create(name, vectors.size)),
      this.#route('DELETE', known, ({ name }) => this.collections.delete(name)),
      this.#route('GET', known, described),
      this.#route('PUT', `${known}/index`, ({ collection }, { field_name, field_schema }) => {
        collection.indexes.set(field_name, field_schema);
        return completed;
      }),
      this.#route('PUT', `${known}/points`, upserted),
      this.#route('POST', `${known}/points/batch`, ({ collection }, { operations }) =>
        operations.map((operation) => updated(collection, operation)),
      ),
      this.#route('POST', `${known}/points/count`, ({ collection }, { filter }) => ({
        count: [...collection.points.values()].filter((point) => matches(point, filter)).length,
      })),
      this.#route('POST', `${known}/points/query`, searched),
      this.#route('POST', `${known}/points/scroll`, ({ collection }, { limit }) => ({
        points: [...collection.points.values()]
          .slice(0, limit)
          .map(({ id, payload }) => ({ id, payload })),
      })),
    ]);
  }

  async start(t: Cleanup): Promise<this> {
    await this.http.start(t);
    return this;
  }

  get url(): string {
    return this.http.url;
  }

  get points(): Point[] {
    return [...this.collections.values()].flatMap(({ points }) => [...points.values()]);
  }

  #create(name: string, size: number): boolean {
    const message = `Wrong input: Collection \`${name}\` already exists!`;
    if (this.collections.has(name)) throw new Refusal(409, message);
    this.collections.set(name, { size, points: new Map(), indexes: new Map() });
    return true;
  }

  #route(method: string, path: string, serve: Serve): readonly [RegExp, Handler] {
    const operation = this.#schema.operation(method, path);
    const pattern = new RegExp(`^${method} ${path.replace('{collection_name}', '([^/]+)')}$`);
    const needsCollection = path.startsWith(`${known}/`) && !path.endsWith('/exists');
    const handler: Handler = (call, match) => {
      const name = decodeURIComponent(match[1] ?? '');
      const body = call.body.length === 0 ? undefined : call.json();
      const wrong = operation.judgeRequest(body, call.query);
      if (wrong.length > 0) return this.#wrong(400, `${method} ${path}`, wrong);
      if (path !== '/' && !this.#isAdmitted(call)) {
        return { status: 401, body: 'Must provide an API key or an Authorization bearer token' };
      }
      const isGet = method === 'GET' && path === known;
      try {
        const collection = this.collections.get(name);
        if (!collection && (needsCollection || isGet)) {
          throw new Refusal(404, `Not found: Collection \`${name}\` doesn't exist!`);
        }
        const at = { name, collection: collection as Collection };
        const result = serve(at, (body ?? {}) as unknown as Body);
        const answer = path === '/' ? result : { result, status: 'ok', time: 0.001 };
        const odd = operation.judgeAnswer(answer);
        return odd.length > 0 ? this.#wrong(500, `${method} ${path}`, odd) : { body: answer };
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return refused(error.status, error.message);
      }
    };
    return [pattern, handler];
  }

  #isAdmitted({ headers }: Call): boolean {
    return this.key === undefined || headers['api-key'] === this.key;
  }

  #wrong(status: number, call: string, found: readonly string[]): Reply {
    this.wrongs.push(...found.map((each) => `${call}: ${each}`));
    return refused(status, found.join('; '));
  }
}

class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function refused(status: number, error: string): Reply {
  return { status, body: { status: { error }, time: 0.001 } };
}

const completed = { operation_id: 1, status: 'completed' };

const described: Serve = ({ collection: { size, points } }) => ({
  status: 'green',
  optimizer_status: 'ok',
  segments_count: 1,
  points_count: points.size,
  payload_schema: {},
  config: {
    params: { vectors: { size, distance: 'Cosine' } },
    hnsw_config: { m: 16, ef_construct: 100, full_scan_threshold: 10_000 },
    optimizer_config: {
      deleted_threshold: 0.2,
      vacuum_min_vector_number: 1000,
      default_segment_number: 0,
      flush_interval_sec: 5,
    },
  },
});

const upserted: Serve = ({ collection }, { points }) => {
  for (const { id, vector, payload } of points) {
    if (vector.length !== collection.size) {
      const sizes = `expected dim: ${collection.size}, got ${vector.length}`;
      throw new Refusal(400, `Wrong input: Vector dimension error: ${sizes}`);
    }
    collection.points.set(String(id), { id, vector, payload });
  }
  return completed;
};

function updated({ points }: Collection, operation: Update): typeof completed {
  for (const [id, point] of points) {
    const { set_payload, delete: removed } = operation;
    if (set_payload && matches(point, set_payload.filter)) {
      point.payload = { ...point.payload, ...set_payload.payload };
    }
    if (removed && matches(point, removed.filter)) points.delete(id);
  }
  return completed;
}

const searched: Serve = ({ collection }, { query, filter, limit, with_payload }) => ({
  points: [...collection.points.values()]
    .filter((point) => matches(point, filter))
    .map(({ id, vector, payload }) => ({
      id,
      version: 1,
      score: cosine(query, vector),
      payload: Object.fromEntries(with_payload.map((name) => [name, payload[name]])),
    }))
    .sort((one, other) => other.score - one.score)
    .slice(0, limit),
});
