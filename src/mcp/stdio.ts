/** MCP over stdin and stdout, for one user: the one who starts the command. */
import { type StdioServerHandle, serveStdio } from '@modelcontextprotocol/server/stdio';
import { compileTools, type McpParts, mcpServer } from './server.ts';

export function serveTools(
  parts: Omit<McpParts, 'tools'>,
  onerror: (error: Error) => void,
): StdioServerHandle {
  const tools = compileTools();
  return serveStdio(() => mcpServer({ ...parts, tools }), { onerror });
}
