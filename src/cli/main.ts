/** The command `pawl`: parses the arguments, runs one command, and sets the exit code. */
import { readFileSync } from 'node:fs';
import { nearOf } from '../kernel/text/closest-name.ts';
import { makeLog } from '../observe/log.ts';
import { type Options, readArguments, splitCommand } from './arguments.ts';
import { type Call, type Command, exits, type Flags, usageError } from './command.ts';
import { builtIn, commands, loadAll } from './commands.ts';
import { tellFailure } from './failure.ts';
import { loadSettings } from './settings.ts';
import { openTerminal, quieted, type Terminal } from './view/terminal.ts';

process.exitCode = await main(process.argv.slice(2), openTerminal());

async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  let command: Command | undefined;
  let flags: Flags = { json: asksForJson(args) };
  // Before the settings are loaded, only the variable gives the log level.
  let level = process.env.PAWL_LOG;
  try {
    const { name, rest } = await splitCommand(args, optionsOfAll);
    if (name === undefined || builtIn.includes(name)) return await runBuiltIn(name, rest, terminal);
    command = await findCommand(name);
    const read = readArguments(command, rest);
    flags = read.flags;
    if (flags.version === true) return printVersion(terminal);
    if (flags.help === true) return await help(terminal, command);
    const call = callOf(command, read, terminal);
    level = call.config.log;
    return await command.run(call);
  } catch (error) {
    const isJson = flags.json === true;
    const isRemote = flags.url !== undefined;
    const exit = tellFailure(error, { command: command?.name, isJson, isRemote }, terminal.tell);
    if (level === 'debug' && error instanceof Error) terminal.tell(error.stack ?? '');
    return exit;
  }
}

/** `pawl`, `pawl --help`, `pawl --version`, `pawl version` and `pawl help COMMAND`. */
async function runBuiltIn(
  name: string | undefined,
  rest: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const { flags, positionals } = readArguments({ name: name ?? '' }, rest);
  if (name === 'version' || flags.version === true) return printVersion(terminal);
  const [topic] = name === 'help' ? positionals : [];
  const isCommand = topic !== undefined && !builtIn.includes(topic);
  return help(terminal, isCommand ? await findCommand(topic) : undefined);
}

async function help(terminal: Terminal, command: Command | undefined): Promise<number> {
  const { printCommandHelp, printHelp } = await import('./view/help.ts');
  if (command) printCommandHelp(terminal, command);
  else printHelp(terminal, await loadAll());
  return exits.well;
}

async function findCommand(name: string): Promise<Command> {
  const entry = commands.find((candidate) => candidate.name === name);
  if (entry) return entry.load();
  const near = nearOf(name, [...commands.map((command) => command.name), ...builtIn]);
  const meant = near === undefined ? '' : `; did you mean ${near}?`;
  throw usageError(`there is no command ${name}${meant}`, '`pawl --help` lists the commands.');
}

async function optionsOfAll(): Promise<Options> {
  return Object.assign({}, ...(await loadAll()).map(({ options }) => options));
}

function callOf(
  command: Command,
  { flags, positionals }: { readonly flags: Flags; readonly positionals: readonly string[] },
  terminal: Terminal,
): Call {
  if (command.isLocal && flags.url !== undefined) {
    const message = `pawl ${command.name} inspects this machine, and takes no --url`;
    throw usageError(message, 'Remove --url, or run the command on the machine of the service.');
  }
  // A line without arguments is like `serve [--port PORT]`.
  const takesFlagsOnly = command.usage.every((line) => /^\w+(?: \[-[^\]]*\])*$/.test(line));
  if (positionals.length > 0 && takesFlagsOnly) {
    throw usageError(`pawl ${command.name} takes only flags, not ${positionals[0]}`);
  }
  const settings = loadSettings(flags, { isTolerant: command.readsSettings });
  const { config, warnings } = settings;
  const isQuiet = flags.quiet === true;
  const log = makeLog(isQuiet && config.log === 'warn' ? 'error' : config.log, terminal.tell);
  for (const warning of warnings) log.warn(warning);
  return {
    positionals,
    flags,
    config,
    settings,
    terminal: isQuiet ? quieted(terminal) : terminal,
    log,
    isJson: flags.json === true,
    isQuiet,
    interrupt: interruptSignal(),
  };
}

/** Errors in the arguments themselves are JSON as well. */
function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const flags = end === -1 ? args : args.slice(0, end);
  return flags.some((word) => word === '--json' || word === '-j');
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

function printVersion(terminal: Terminal): number {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  terminal.print(JSON.parse(manifest).version);
  return exits.well;
}
