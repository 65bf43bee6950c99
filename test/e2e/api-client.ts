/** A service on a new store and a free port, and requests that validate the responses. */
import assert from 'node:assert/strict';
import { Compile } from 'typebox/compile';
import {
  type RunningService,
  type ServiceOptions,
  startService,
} from '../../src/app/role/service.ts';
import { contract, type Route, type RouteName } from '../../src/contract/contract.ts';
import { Problem } from '../../src/contract/schema/schema.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';

export interface Answer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface Asking {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Bench {
  readonly service: RunningService;
  readonly lines: readonly string[];
  /** Sends a request, and validates the response against the contract. */
  ask<Body = Record<string, unknown>>(name: RouteName, asking?: Asking): Promise<Answer<Body>>;
  submit(body: unknown, headers?: Readonly<Record<string, string>>): Promise<string>;
  /** Resolves to the job after its end. */
  ended(jobId: string): Promise<Record<string, unknown>>;
}

export async function openBench(t: Cleanup, options: Partial<ServiceOptions> = {}): Promise<Bench> {
  const lines: string[] = [];
  const service = await startService({
    data: temporaryDirectory(t),
    host: '127.0.0.1',
    port: 0,
    log: { level: 'debug', write: (line) => void lines.push(line) },
    ...options,
  });
  t.after(() => service.close());
  const ask: Bench['ask'] = (name, asking) => askAt(service.address, name, asking);
  const submit: Bench['submit'] = async (body, headers = {}) => {
    const answer = await ask('POST /jobs', { body, headers });
    assert.equal(answer.status, 202, JSON.stringify(answer.body));
    return String(answer.body.job_id);
  };
  const ended: Bench['ended'] = async (id) => {
    // The stream ends when the job does.
    const response = await fetch(`${service.address}/jobs/${id}/stream`);
    await response.text();
    return (await ask('GET /jobs/:id', { params: { id } })).body;
  };
  return { service, lines, ask, submit, ended };
}

const problems = Compile(Problem);

async function askAt<Body>(
  address: string,
  name: RouteName,
  { params = {}, query = {}, body, headers = {} }: Asking = {},
): Promise<Answer<Body>> {
  const [method = 'GET', path = ''] = name.split(' ');
  const filled = path.replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(params[key] ?? ''));
  const search = new URLSearchParams(
    Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
  );
  const response = await fetch(`${address}${filled}?${search}`, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const route: Route = contract[name];
  const text = await response.text();
  if (response.status >= 400 && response.headers.get('content-type')?.includes('problem')) {
    const problem: unknown = JSON.parse(text);
    assert.ok(problems.Check(problem), text);
    return { status: response.status, headers: response.headers, body: problem as Body };
  }
  if (route.media)
    return { status: response.status, headers: response.headers, body: text as Body };
  const value: unknown = JSON.parse(text);
  const schema = Compile(route.answer);
  assert.ok(schema.Check(value), `${name}: ${JSON.stringify(schema.Errors(value).slice(0, 3))}`);
  return { status: response.status, headers: response.headers, body: value as Body };
}
