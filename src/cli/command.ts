/**
 * The commands of the CLI: their form, their flags, and how they open a store. The engine is loaded
 * when a store is opened, so that other commands start faster.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config, LoadedConfig } from '../app/settings/config.ts';
import type { ClientOptions } from '../client/http.ts';
import type { OpenOptions, Pawl } from '../index.ts';
import { Failure } from '../kernel/failure/failure.ts';
import type { Log } from '../observe/log.ts';
import type { PawlClient } from './pawl-client.ts';
import type { Terminal } from './view/terminal.ts';

export interface Option {
  readonly type: 'string' | 'boolean';
  /** One letter. A letter means the same flag in every command. */
  readonly short?: string;
  /** The placeholder of the value in the help. */
  readonly value?: string;
  /** May be given several times. */
  readonly multiple?: boolean;
  /** The valid values, if they are few. */
  readonly choices?: readonly string[];
  readonly meaning: string;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** One line for each form of the call, without the program's name. */
  readonly usage: readonly string[];
  readonly options?: Readonly<Record<string, Option>>;
  readonly examples?: readonly string[];
  /** Inspects this machine, and so takes no `--url`. */
  readonly isLocal?: boolean;
  /** Shows the settings, and so runs even if one is invalid. */
  readonly readsSettings?: boolean;
  /** Returns the exit code. */
  run(call: Call): Promise<number>;
}

export interface Call {
  readonly positionals: readonly string[];
  readonly flags: Flags;
  readonly config: Config;
  readonly settings: LoadedConfig;
  readonly terminal: Terminal;
  readonly log: Log;
  readonly isJson: boolean;
  /** Only results and errors are printed. */
  readonly isQuiet: boolean;
  /** Aborts at the first Ctrl-C. */
  readonly interrupt: AbortSignal;
}

export type Flags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** The exit codes that scripts rely on. */
export const exits = { well: 0, error: 1, someFailed: 2, usage: 64, interrupted: 130 } as const;

export const exitMeanings: readonly (readonly [code: string, meaning: string])[] = [
  ['0', 'success'],
  ['1', 'error'],
  ['2', 'finished, but some documents failed'],
  ['64', 'wrong usage or configuration'],
  ['130', 'interrupted'],
];

/** Prints one JSON document with `--json`, else what people read. A sentence is only a status. */
export function answer(
  { terminal, isJson, isQuiet }: Call,
  shape: unknown,
  told: string | (() => void),
): number {
  if (isJson) terminal.print(JSON.stringify(shape));
  else if (typeof told !== 'string') told();
  else if (!isQuiet) terminal.print(told);
  return exits.well;
}

export const globalOptions: Readonly<Record<string, Option>> = {
  data: {
    type: 'string',
    short: 'd',
    value: 'DIR',
    meaning: 'the folder of the store (PAWL_DATA, or .pawl)',
  },
  url: {
    type: 'string',
    short: 'u',
    value: 'URL',
    meaning: 'ask a running service instead of a store',
  },
  'env-file': {
    type: 'string',
    value: 'FILE',
    meaning: 'read PAWL_… variables from this file instead of .env',
  },
  json: {
    type: 'boolean',
    short: 'j',
    meaning: 'machine-readable: one JSON document, or one for each line',
  },
  quiet: { type: 'boolean', short: 'q', meaning: 'print only results and errors' },
  help: { type: 'boolean', short: 'h', meaning: 'show what the command takes' },
  version: { type: 'boolean', short: 'v', meaning: 'print the version' },
};

/** The second line of the error is the advice. Without one, it names the help of the command. */
export function usageError(message: string, advice?: string): Failure {
  return new Failure('usage_error', message, advice === undefined ? {} : { context: { advice } });
}

/** The text of a flag, or undefined if it was not given. */
export function textOf(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}

/** The integer of a flag within bounds, or undefined if it was not given. */
export function numberOf(
  flags: Flags,
  name: string,
  { min, max }: { min: number; max: number },
): number | undefined {
  const text = textOf(flags, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw usageError(`--${name} must be a whole number from ${min} to ${max}, not ${text}`);
}

/** The cents of a flag (fractions allowed), or undefined if it was not given. */
export function centsOf(flags: Flags, name: string): number | undefined {
  const text = textOf(flags, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value;
  throw usageError(`--${name} must be a number of cents from 0 up, not ${text}`);
}

/** Opens the service that `--url` names, or the store. */
export async function withClient<T>(call: Call, use: (pawl: PawlClient) => Promise<T>): Promise<T> {
  const service = serviceOf(call);
  if (!service) {
    const { localPawl } = await import('./local-client.ts');
    return withPawl(call, { work: false }, (pawl) => use(localPawl(pawl)));
  }
  const { remotePawl } = await import('./remote-client.ts');
  return use(remotePawl(service));
}

/** The service that `--url` names, if the flag was given. */
export function serviceOf({ flags, config }: Call): ClientOptions | undefined {
  const url = textOf(flags, 'url');
  if (url === undefined) return undefined;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw usageError(`--url cannot be ${url}`, 'Use an address such as http://127.0.0.1:7300.');
  }
  return { url, key: config.key };
}

/** Opens the store, and closes it after use. */
export async function withPawl<T>(
  call: Call,
  options: Pick<OpenOptions, 'work'>,
  use: (pawl: Pawl) => Promise<T>,
): Promise<T> {
  const { config, log } = call;
  const { open } = await import('../index.ts');
  const { engineOptions } = await import('./engine-options.ts');
  const pawl = await open({
    ...engineOptions(config),
    onError: (what, error) => log.error(what, error),
    onOutage: (message) => log.warn(message),
    ...options,
  });
  try {
    return await use(pawl);
  } finally {
    await pawl.close();
  }
}

/** The same for an existing store: read commands never create one. */
export async function withStore<T>(call: Call, use: (pawl: PawlClient) => Promise<T>): Promise<T> {
  if (call.flags.url === undefined) refuseMissing(call);
  return withClient(call, use);
}

export function refuseMissing({ config }: Call): void {
  if (config.databaseUrl === undefined && !existsSync(storePath(config))) {
    const advice =
      'Run `pawl ingest SOURCE…` to create one, or name the folder of a store with --data.';
    const message = `there is no store in ${resolve(config.data)}`;
    throw new Failure('bad_request', message, { context: { advice } });
  }
}

export function storePath(config: Config): string {
  return join(resolve(config.data), 'pawl.db');
}
