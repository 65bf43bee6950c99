/** The command `pawl`: parses the arguments, runs one command, and sets the exit code. */
import { readFileSync } from 'node:fs';
import { closestOf, loadConfig, readConfigFile } from '../app/settings/config.ts';
import { failures, toFailure } from '../kernel/failure/failure.ts';
import { makeLog } from '../observe/log.ts';
import { batch } from './command/batch.ts';
import { callers } from './command/callers.ts';
import { chunk } from './command/chunk.ts';
import { corpora } from './command/corpora.ts';
import { diagram } from './command/diagram.ts';
import { doctor } from './command/doctor/doctor.ts';
import { extract } from './command/extract.ts';
import { inbox } from './command/inbox.ts';
import { ingest } from './command/ingest.ts';
import { jobs } from './command/jobs.ts';
import { mcp } from './command/mcp.ts';
import { search } from './command/search.ts';
import { serve } from './command/serve.ts';
import { sync } from './command/sync.ts';
import { watch } from './command/watch.ts';
import { why } from './command/why.ts';
import { type Call, type Command, exits, readArguments, textOf, usageError } from './command.ts';
import { printCommandHelp, printHelp } from './view/help.ts';
import { openTerminal, type Terminal } from './view/terminal.ts';

const commands: readonly Command[] = [
  serve,
  ingest,
  watch,
  sync,
  search,
  jobs,
  inbox,
  corpora,
  callers,
  why,
  batch,
  extract,
  chunk,
  mcp,
  doctor,
  diagram,
];

process.exitCode = await main(process.argv.slice(2), openTerminal());

async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await run(args, terminal);
  } catch (error) {
    // Before the settings are loaded, only the variable gives the log level.
    return tellFailure(error, terminal, process.env.PAWL_LOG);
  }
}

async function run([name, ...rest]: readonly string[], terminal: Terminal): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    printHelp(terminal, commands);
    return exits.well;
  }
  if (name === '--version') {
    terminal.print(versionOf());
    return exits.well;
  }
  const command = commands.find((candidate) => candidate.name === name);
  if (!command) throw usageError(describeUnknown(name));
  const { flags, positionals } = readArguments(command, rest);
  if (flags.help === true) {
    printCommandHelp(terminal, command);
    return exits.well;
  }
  if (command.isLocal && flags.url !== undefined) {
    throw usageError(`pawl ${name} inspects this machine, and takes no --url`);
  }
  const { config, warnings } = loadConfig({
    environment: process.env,
    file: readConfigFile(process.cwd()),
    flags: {
      data: textOf(flags, 'data'),
      host: textOf(flags, 'host'),
      port: textOf(flags, 'port'),
      role: textOf(flags, 'role'),
    },
  });
  const log = makeLog(config.log, terminal.tell);
  for (const warning of warnings) log.warn(warning);
  const isJson = flags.json === true;
  const interrupt = interruptSignal();
  const call = { positionals, flags, config, terminal, log, isJson, interrupt } satisfies Call;
  try {
    return await command.run(call);
  } catch (error) {
    return tellFailure(error, terminal, config.log);
  }
}

/** The first Ctrl-C stops the command cleanly; the second exits immediately. */
function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(exits.interrupted);
      controller.abort();
    });
  }
  return controller.signal;
}

/** One line with the error, one with advice. */
function tellFailure(error: unknown, { tell }: Terminal, level: string | undefined): number {
  const failure = toFailure(error);
  tell(`pawl: ${failure.message} (${failure.code})`);
  tell(failures[failure.code].advice);
  if (level === 'debug') tell(failure.stack ?? '');
  return failure.code === 'usage_error' ? exits.usage : exits.error;
}

function describeUnknown(name: string): string {
  const names = commands.map((command) => command.name);
  return `there is no command ${name}; the closest one is ${closestOf(name, names)}`;
}

function versionOf(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return JSON.parse(manifest).version;
}
