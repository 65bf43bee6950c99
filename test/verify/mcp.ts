/** The inspector of the Model Context Protocol: an independent client, over HTTP and stdio. */

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Cleanup } from '../support/temporary.ts';
import { cached, runTool } from './cache.ts';
import { startService } from './service.ts';
import type { Outcome, Started, Target } from './target.ts';

const version = '2.12.0';
const packageName = '@modelcontextprotocol/inspector';
const pawl = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

export const mcpTarget: Target = { name: 'MCP inspector', version, start };

/** A request, and what its answer must contain. */
const requests: readonly [request: readonly string[], expected: RegExp][] = [
  [['tools/list', '--strict'], /"name": "search"/],
  [['resources/list'], /pawl:\/\/corpora\/notes/],
  [['resources/templates/list'], /pawl:\/\/corpora\/\{name\}/],
  [['resources/read', '--uri', 'pawl://corpora/notes'], /walrus\.md/],
  [['tools/call', '--tool-name', 'list_corpora'], /notes/],
  [
    ['tools/call', '--tool-name', 'search', '--tool-arg', 'query=walrus', 'corpus_name=notes'],
    /ice/,
  ],
];

async function start(t: Cleanup): Promise<Started> {
  const home = cached(`inspector-${version}`, (folder) => {
    const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder];
    runTool('npm', [...install, `${packageName}@${version}`]);
  });
  const launcher = join(home, 'node_modules', packageName, 'clients/launcher/build/index.js');
  const { url, data } = await startService(t);
  const ask = (before: readonly string[], after: readonly string[]) => async () =>
    outcomeOf((request) => [launcher, '--cli', ...before, '--method', ...request, ...after]);
  return {
    environment: {},
    suites: [
      { name: 'MCP over HTTP', run: ask([`${url}/mcp`, '--transport', 'http'], []) },
      {
        name: 'MCP over stdio',
        run: ask(['-e', `PAWL_DATA=${data}`], ['--', process.execPath, pawl, 'mcp']),
      },
    ],
  };
}

function outcomeOf(argsOf: (request: readonly string[]) => readonly string[]): Outcome {
  const problems: string[] = [];
  for (const [request, expected] of requests) {
    try {
      const answer = runTool(process.execPath, argsOf(request));
      if (!expected.test(answer)) problems.push(`${request.join(' ')} answered ${answer}`);
    } catch (error) {
      problems.push(String(error));
    }
  }
  const detail = problems.length > 0 ? { detail: problems.join('\n') } : {};
  return { passed: requests.length - problems.length, failed: problems.length, ...detail };
}
