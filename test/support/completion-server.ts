/**
 * A provider of completions on a free port of this machine, with responses of the test. It refuses
 * a request that OpenAI's package does not describe, or whose schema its strict mode does not take.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CompletionCall {
  readonly authorization: string | undefined;
  readonly body: {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: string }[];
    readonly response_format: {
      readonly type: string;
      readonly json_schema: {
        readonly name: string;
        readonly schema: Readonly<Record<string, unknown>>;
      };
    };
  };
}

export type Answering = (call: CompletionCall, response: ServerResponse) => void;

export interface CompletionServer {
  readonly url: string;
  readonly calls: readonly CompletionCall[];
  /** The response to the next calls. */
  answer: Answering;
  close(): Promise<void>;
}

export async function startCompletionServer(answer: Answering): Promise<CompletionServer> {
  const calls: CompletionCall[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((text) => {
      const call = { authorization: request.headers.authorization, body: JSON.parse(text) };
      const wrong = wrongIn(request, call.body);
      if (wrong !== undefined) {
        const error = { message: wrong, type: 'invalid_request_error', param: null, code: null };
        response.writeHead(400).end(JSON.stringify({ error }));
        return;
      }
      calls.push(call);
      running.answer(call, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const running: CompletionServer = {
    url: `http://127.0.0.1:${port}/v1`,
    calls,
    answer,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return running;
}

const fields = ['model', 'messages', 'response_format', 'temperature'];

function wrongIn(
  { method, url }: IncomingMessage,
  body: Readonly<Record<string, unknown>>,
): string | undefined {
  if (method !== 'POST' || url !== '/v1/chat/completions') return `${method} ${url}`;
  const unknown = Object.keys(body).find((name) => !fields.includes(name));
  if (unknown) return `there is no field ${unknown}`;
  const {
    model,
    messages,
    temperature,
    response_format: format,
  } = body as {
    [name: string]: unknown;
    response_format?: { type?: unknown; json_schema?: Record<string, unknown> };
  };
  if (typeof model !== 'string' || !isMessages(messages)) return 'model or messages are missing';
  if (!(Number(temperature ?? 0) >= 0 && Number(temperature ?? 0) <= 2)) return 'temperature';
  if (format === undefined) return undefined;
  if (format.type !== 'json_schema') return `the format is ${String(format.type)}`;
  const { name, strict, schema, ...others } = format.json_schema ?? {};
  if (Object.keys(others).length > 0) return `json_schema has ${Object.keys(others)}`;
  if (!/^[\w-]{1,64}$/.test(String(name))) return `the name of the schema is ${String(name)}`;
  return strict === true ? looseIn(schema, 'schema') : undefined;
}

function isMessages(messages: unknown): boolean {
  const isMessage = ({ role, content, ...others }: Record<string, unknown>) =>
    ['system', 'user', 'assistant', 'developer'].includes(String(role)) &&
    typeof content === 'string' &&
    Object.keys(others).length === 0;
  return Array.isArray(messages) && messages.length > 0 && messages.every(isMessage);
}

/** Keywords that strict mode does not have. */
const unsupported = new Set([
  ...['allOf', 'not', 'if', 'then', 'else', 'contains', 'propertyNames', 'patternProperties'],
  ...['prefixItems', 'uniqueItems', 'minProperties', 'maxProperties', 'dependentRequired'],
]);

/** Strict mode: an object has no other properties than those that it requires. */
function looseIn(schema: unknown, at: string): string | undefined {
  if (Array.isArray(schema)) return schema.map((each) => looseIn(each, at)).find(Boolean);
  if (typeof schema !== 'object' || schema === null) return undefined;
  const {
    type,
    properties = {},
    required,
    additionalProperties,
  } = schema as {
    type?: unknown;
    properties?: object;
    required?: readonly string[];
    additionalProperties?: unknown;
  };
  const names = Object.keys(properties);
  if (type === 'object' && additionalProperties !== false) return `${at}: additionalProperties`;
  const optional = names.find((name) => type === 'object' && !required?.includes(name));
  if (optional) return `${at}: ${optional} is not in required`;
  const keyword = Object.keys(schema).find((key) => unsupported.has(key));
  if (keyword && type !== undefined) return `${at}: ${keyword} is not supported`;
  return Object.entries(schema)
    .map(([key, each]) => looseIn(each, `${at}.${key}`))
    .find(Boolean);
}

/** A response as providers give it. */
export function withContent(content: string, finish = 'stop'): Answering {
  return withMessage({ content }, finish);
}

export function withMessage(message: Readonly<Record<string, string>>, finish = 'stop'): Answering {
  return (_, response) => {
    response.setHeader('content-type', 'application/json').end(
      JSON.stringify({
        choices: [{ finish_reason: finish, message: { role: 'assistant', ...message } }],
        usage: { prompt_tokens: 1000, completion_tokens: 200 },
      }),
    );
  };
}

export function withStatus(
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: unknown = { error: { message: 'told so' } },
): Answering {
  return (_, response) => {
    response.writeHead(status, headers).end(JSON.stringify(body));
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}
