/**
 * The configuration: flags win over the environment, the environment over `.env`, and `.env` over
 * the file.
 * `settings.ts` defines all settings.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../kernel/failure/failure.ts';
import { closestOf } from '../../kernel/text/closest-name.ts';
import { type Config, type Key, settings } from './settings.ts';

export type { Config } from './settings.ts';

export const configFile = 'pawl.config.json';

/** A file of variables, such as `.env`. */
export interface VariableFile {
  readonly name: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

export interface ConfigInput {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly envFile?: VariableFile | undefined;
  /** The text of `pawl.config.json`, if there is one. */
  readonly file?: string | undefined;
  readonly flags?: { readonly [K in Key]?: string | undefined };
}

/** A setting, and where its value comes from. */
export interface ReadSetting {
  readonly key: Key;
  readonly source: 'flag' | 'environment' | 'env file' | 'config file' | 'default';
  /** The flag, the variable or the key that set it. */
  readonly name: string;
  readonly value: unknown;
  /** Why the given value is invalid; `value` is then the default. */
  readonly error?: Failure | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly read: readonly ReadSetting[];
  /** Unknown settings, each with the closest known name. */
  readonly warnings: readonly string[];
}

/** Throws at the first invalid setting. */
export function loadConfig(input: ConfigInput): LoadedConfig {
  const loaded = readSettings(input);
  for (const { error } of loaded.read) if (error) throw error;
  return loaded;
}

/** Reads every setting. An invalid one keeps its default and has an error. */
export function readSettings(input: ConfigInput): LoadedConfig {
  const stored = readObject(input.file);
  const keys = Object.keys(settings) as Key[];
  const read = keys.map((key) => readSetting(key, input, stored));
  const config = Object.fromEntries(read.map(({ key, value }) => [key, value]));
  const { environment, envFile } = input;
  const warnings = [
    ...unknownVariables(environment),
    ...unknownVariables(envFile?.variables ?? {}).map((each) => `${each} (in ${envFile?.name})`),
    ...unknownKeys(stored),
  ];
  return { config: config as unknown as Config, read, warnings };
}

function readSetting(
  key: Key,
  { environment, envFile, flags = {} }: ConfigInput,
  stored: Readonly<Record<string, unknown>>,
): ReadSetting {
  const { variable, flag = variable, initial } = settings[key];
  const found = (
    source: ReadSetting['source'],
    name: string,
    text: string,
    where = name,
  ): ReadSetting => {
    try {
      return { key, source, name, value: parse(key, text, where) };
    } catch (error) {
      return { key, source, name, value: initial, error: error as Failure };
    }
  };
  if (flags[key] !== undefined) return found('flag', flag, flags[key]);
  // An empty variable counts as not set, because shells and compose files cannot express it
  // otherwise.
  const text = environment[variable];
  if (text !== undefined && text !== '') return found('environment', variable, text);
  const line = envFile?.variables[variable];
  if (envFile && line !== undefined && line !== '') {
    return found('env file', envFile.name, line, `${variable} in ${envFile.name}`);
  }
  if (!Object.hasOwn(stored, key)) return { key, source: 'default', name: '', value: initial };
  return found('config file', configFile, String(stored[key]), `${key} in ${configFile}`);
}

/** The text of the configuration file of a folder, or undefined if there is none. */
export function readConfigFile(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, configFile), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Failure('usage_error', `${configFile} cannot be read`, { cause: error });
  }
}

function parse<K extends Key>(key: K, text: string, where: string): Config[K] {
  const { form, isSecret, parse: parseText } = settings[key];
  const value = text.trim() === '' ? undefined : parseText(text);
  if (value !== undefined) return value;
  const shown = isSecret ? 'what was given' : JSON.stringify(text);
  throw new Failure('usage_error', `${where} must be ${form}, not ${shown}`, {
    context: { advice: '`pawl config show` lists every setting and where its value comes from.' },
  });
}

function readObject(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  const advice = `Correct ${configFile} in this folder, such as { "port": 7301 }, or delete it.`;
  try {
    const value: unknown = JSON.parse(text);
    if (value instanceof Object && !Array.isArray(value)) return { ...value };
  } catch (error) {
    throw new Failure('usage_error', `${configFile} is not JSON: ${(error as Error).message}`, {
      cause: error,
      context: { advice },
    });
  }
  throw new Failure('usage_error', `${configFile} must contain one JSON object`, {
    context: { advice },
  });
}

function unknownVariables(environment: ConfigInput['environment']): string[] {
  const known = Object.values(settings);
  return Object.keys(environment)
    .filter((name) => name.startsWith('PAWL_') && known.every(({ variable }) => variable !== name))
    .map((name) =>
      describeUnknown(
        name,
        shownSettings.map(({ variable }) => variable),
      ),
    );
}

function unknownKeys(stored: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(stored)
    .filter((key) => !Object.hasOwn(settings, key))
    .map((key) => `${describeUnknown(key, Object.keys(settings))} (in ${configFile})`);
}

function describeUnknown(name: string, known: readonly string[]): string {
  return `${name} is not a setting, and is ignored; the closest one is ${closestOf(name, known)}`;
}

const shownSettings = Object.values(settings).filter((setting) => !setting.isHidden);

/** The text of `docs/generated/config.md`. */
export function configPage(): string {
  const rows = Object.entries(settings)
    .filter(([, { isHidden }]) => !isHidden)
    .map(([key, { variable, flag, initial, form, meaning }]) => {
      const standard = initial === undefined ? '' : `\`${initial}\``;
      const names = [`\`${variable}\``, flag ? `\`${flag}\`` : '', `\`${key}\``];
      return `| ${[...names, standard, form, meaning].join(' | ')} |`;
    });
  return [
    '# Configuration',
    '',
    '<!-- Generated from src/app/settings/settings.ts. Do not edit by hand. -->',
    '',
    'Flags win over the environment, the environment over `.env` (or the file of `--env-file`),',
    `and that over \`${configFile}\`. Both files are read from the folder where Pawl starts.`,
    'An empty variable counts as not set. `pawl config show` prints the source of each value.',
    '',
    `| variable | flag | key in \`${configFile}\` | default | must be | meaning |`,
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
