/** The MCP endpoint of a service. Its package is loaded with the first request. */
import type { CallerContext } from '../../access/caller.ts';
import type { McpAnswer } from '../../http/mcp-route.ts';
import { shortened } from '../../kernel/text/shortened.ts';
import type { McpEndpoint } from '../../mcp/http.ts';
import { type Ask, askInProcess, storeRoutes } from '../../service/in-process.ts';
import { refuseOverLimit } from '../../service/rate.ts';
import type { Service } from '../../service/service.ts';
import { packageVersion } from '../version.ts';

export interface OpenMcp {
  readonly answer: McpAnswer;
  close(): Promise<void>;
}

/** Of the reason for a refused request: it may quote the request. */
const reasonCharactersMax = 200;

export function openMcp(service: Service, log: { info(message: string): void }): OpenMcp {
  const handlers = storeRoutes(service);
  const askFor = (caller: CallerContext): Ask => {
    const ask = askInProcess(handlers, caller);
    return async (name, ...asking) => {
      // A tool counts like the route that it calls.
      refuseOverLimit(await service.access.admit(caller, name));
      return ask(name, ...asking);
    };
  };
  let opened: Promise<McpEndpoint> | undefined;
  const open = async (): Promise<McpEndpoint> => {
    const { mcpEndpoint } = await import('../../mcp/http.ts');
    // The caller's mistake, as a rule. The response has a status, which is logged as well.
    const onerror = ({ message }: Error): void =>
      log.info(`an MCP request was refused: ${shortened(message, reasonCharactersMax)}`);
    return mcpEndpoint({ version: packageVersion(), askFor, onerror });
  };
  return {
    answer: async (...request) => {
      opened ??= open();
      return (await opened).answer(...request);
    },
    close: async () => (await opened)?.close(),
  };
}
