/** `pawl watch`: keeps a corpus equal to a folder while it runs. */
import { resolve } from 'node:path';
import { realWorld } from '../../../app/world.ts';
import { Debounce } from '../../../concurrency/debounce.ts';
import type { SyncRun } from '../../../contract/schema/source.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { watchFolder } from '../../../source/watch-folder.ts';
import { onlyArgument } from '../../action.ts';
import { type Call, type Command, exits, textOf, usageError, withPawl } from '../../command.ts';
import { localPawl } from '../../local-client.ts';
import type { PawlClient } from '../../pawl-client.ts';
import { runSource, tellRun } from '../../sync-run.ts';
import { chosenOptions } from './sync.ts';

export const watch: Command = {
  name: 'watch',
  summary: 'keep a corpus equal to a folder, as its files change',
  usage: ['watch FOLDER --corpus NAME [--name NAME]'],
  options: {
    corpus: {
      type: 'string',
      short: 'c',
      value: 'NAME',
      meaning: 'the corpus; created if it does not exist',
    },
    name: {
      type: 'string',
      value: 'NAME',
      meaning: 'the name of the source; by default its folder',
    },
    include: { type: 'string', value: 'GLOB', meaning: 'only these files; separate with commas' },
    exclude: { type: 'string', value: 'GLOB', meaning: 'not these files' },
    'follow-links': {
      type: 'boolean',
      meaning: 'read files behind symbolic links that leave the folder',
    },
    'budget-cents': {
      type: 'string',
      value: 'N',
      meaning: 'pause a job of a run before it costs more',
    },
    'hold-above': {
      type: 'string',
      value: 'PERCENT',
      meaning: 'ask before a run removes more than this share of the documents; 20 if absent',
    },
  },
  examples: ['pawl watch ./docs --corpus docs'],
  isLocal: true,
  run: async (call) => {
    const corpus = textOf(call.flags, 'corpus');
    if (corpus === undefined) throw usageError('add --corpus NAME');
    const location = resolve(onlyArgument(call.positionals, 'folder'));
    return withPawl(call, { work: false }, async (pawl) => {
      const client = localPawl(pawl);
      const name = textOf(call.flags, 'name');
      const body = { corpus_name: corpus, location, name, ...chosenOptions(call.flags) };
      const source = await client.ask('POST /sources', { body });
      await client.work();
      await keepEqual(call, client, { name: source.name, location });
      return exits.well;
    });
  },
};

/** Watches before the first run, so that no change is between the two. Until Ctrl-C. */
async function keepEqual(
  call: Call,
  pawl: PawlClient,
  { name, location }: { readonly name: string; readonly location: string },
): Promise<void> {
  const { terminal, log, interrupt } = call;
  const world = realWorld();
  let isFirst = true;
  const run = async (): Promise<void> => {
    try {
      const ended = await runSource(call, pawl, { name });
      const isNews = ended && (isFirst || hasChanged(ended) || ended.error);
      if (isNews) await tellRun(call, pawl, ended);
      if (isFirst && ended && !call.isJson) terminal.tell(`watching ${location}; Ctrl-C stops`);
      isFirst = false;
    } catch (error) {
      // The next event, or the next poll, tries again.
      if (!interrupt.aborted) log.error('watch', error);
    }
  };
  const { debounceMs: quietMs, debounceMsMax: delayMsMax } = limits.sync;
  const debounce = new Debounce({ world, quietMs, delayMsMax, run });
  const stop = watchFolder(location, {
    world,
    onChange: () => debounce.signal(),
    onPolling: (reason) => terminal.tell(`no file events (${reason}): polling instead`),
  });
  // A missed event is made up for at the next poll.
  const poll = setInterval(() => debounce.signal(), limits.sync.recheckMs);
  debounce.signal();
  await new Promise<void>((done) => {
    if (interrupt.aborted) done();
    interrupt.addEventListener('abort', () => done(), { once: true });
  });
  clearInterval(poll);
  stop();
  await debounce.stop();
}

function hasChanged({ found }: SyncRun): boolean {
  const { unchanged, ...changed } = found;
  return Object.values(changed).some((count) => count > 0);
}
