/** `pawl quickstart`: a minute to a result, with documents that Pawl brings along. */
import { fileURLToPath } from 'node:url';
import { expandSources } from '../sources.ts';
import { type Call, type Command, exits, withStore } from './command.ts';
import { ingestSources } from './ingest.ts';
import { searchAndPrint } from './search.ts';

const corpus = 'sample';
const query = 'refund for a late delivery';
const samples = fileURLToPath(new URL('../../samples', import.meta.url));

export const quickstart: Command = {
  name: 'quickstart',
  summary: 'ingest the sample documents and search them',
  usage: ['quickstart'],
  options: {
    'no-sample': { type: 'boolean', meaning: 'leave the samples out; only say what to try' },
  },
  run: async (call) => {
    if (call.flags['no-sample'] === true) {
      tellNext(call);
      return exits.well;
    }
    const exit = await ingestSources(call, await expandSources([samples]), { corpus });
    if (exit !== exits.well && exit !== exits.someFailed) return exit;
    if (!call.isJson) call.terminal.print();
    await withStore(call, (pawl) => searchAndPrint(call, pawl, { corpus, query, topK: 3 }));
    tellNext(call);
    return exit;
  },
};

const next: readonly (readonly [string, string])[] = [
  ['search the samples', 'npx pawl search sample "parental leave"'],
  ['ingest your own', 'npx pawl ingest ./docs --corpus docs'],
  ['see what was done', 'npx pawl jobs'],
  ['all commands', 'npx pawl --help'],
];

function tellNext({ terminal, isJson }: Call): void {
  if (isJson) return;
  terminal.print();
  for (const [what, command] of next) {
    terminal.print(`${terminal.paint('dim', what.padEnd(20))}${command}`);
  }
}
