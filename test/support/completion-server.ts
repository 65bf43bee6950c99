/** A provider of completions on a free port of this machine, with responses of the test. */
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
