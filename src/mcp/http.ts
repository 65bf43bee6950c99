/**
 * MCP over streamable HTTP. Every request is answered on its own, without a session, so any process
 * behind a load balancer can answer it, and each request is authorized by its own key.
 */
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { CallerContext } from '../access/caller.ts';
import type { Ask } from '../service/in-process.ts';
import { refuseLongNames } from './long-names.ts';
import { compileTools, mcpServer } from './server.ts';

export interface McpOptions {
  readonly version: string;
  /** The routes as a caller may use them. */
  askFor(caller: CallerContext): Ask;
  /** Called with the reason if a request is refused or fails in the protocol library. */
  readonly onerror: (error: Error) => void;
}

export interface McpEndpoint {
  answer(request: Request, body: unknown, caller: CallerContext): Promise<Response>;
  /** Ends the open streams. */
  close(): Promise<void>;
}

export function mcpEndpoint({ version, askFor, onerror }: McpOptions): McpEndpoint {
  const tools = compileTools();
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const caller = authInfo?.extra?.caller as CallerContext;
      return mcpServer({ version, tools, ask: askFor(caller) });
    },
    { onerror },
  );
  return {
    answer: async (request, body, caller) =>
      refuseLongNames(body) ??
      handler.fetch(request, {
        ...(body !== undefined && { parsedBody: body }),
        authInfo: { token: '', clientId: caller.shownId, scopes: [], extra: { caller } },
      }),
    close: () => handler.close(),
  };
}
