/** `pawl mcp`: Pawl as tools for a language model, over stdin and stdout. */
import { once } from 'node:events';
import { packageVersion } from '../../app/version.ts';
import { type Command, exits, withClient } from '../command.ts';

export const mcp: Command = {
  name: 'mcp',
  summary: 'Model Context Protocol server for language models, over stdin and stdout',
  usage: ['mcp'],
  examples: ['pawl mcp --data ./handbook', 'pawl mcp --url http://127.0.0.1:7300'],
  run: (call) =>
    withClient(call, async (pawl) => {
      await pawl.work();
      const ended = once(process.stdin, 'end', { signal: call.interrupt });
      // Loaded here, so that other commands start faster.
      const { serveTools } = await import('../../mcp/stdio.ts');
      const parts = { ask: pawl.ask, version: packageVersion() };
      const server = serveTools(parts, (error) => call.log.warn(error.message));
      // Ends when the client closes stdin, or on a signal.
      await ended.catch(() => undefined);
      await server.close();
      return exits.well;
    }),
};
