/**
 * The configuration: flags win over the environment, and the environment wins over the file.
 * `settings.ts` defines all settings.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../kernel/failure/failure.ts';
import { closestOf } from '../../kernel/text/closest-name.ts';
import { type Config, type Key, settings } from './settings.ts';

export { closestOf } from '../../kernel/text/closest-name.ts';
export type { Config } from './settings.ts';

export const configFile = 'pawl.config.json';

export interface ConfigInput {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The text of `pawl.config.json`, if there is one. */
  readonly file?: string | undefined;
  readonly flags?: { readonly [K in Key]?: string | undefined };
}

export interface LoadedConfig {
  readonly config: Config;
  /** Unknown settings, each with the closest known name. */
  readonly warnings: readonly string[];
}

export function loadConfig({ environment, file, flags = {} }: ConfigInput): LoadedConfig {
  const stored = readObject(file);
  const read = <K extends Key>(key: K): Config[K] => {
    const { variable, flag = variable, initial } = settings[key];
    if (flags[key] !== undefined) return parse(key, flags[key], flag);
    // An empty variable counts as not set, because shells and compose files cannot express it
    // otherwise.
    const text = environment[variable];
    if (text !== undefined && text !== '') return parse(key, text, variable);
    return key in stored ? parse(key, String(stored[key]), `${key} in ${configFile}`) : initial;
  };
  const keys = Object.keys(settings) as Key[];
  const config = Object.fromEntries(keys.map((key) => [key, read(key)])) as unknown as Config;
  return { config, warnings: [...unknownVariables(environment), ...unknownKeys(stored)] };
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
  throw new Failure('usage_error', `${where} must be ${form}, not ${shown}`);
}

function readObject(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (value instanceof Object && !Array.isArray(value)) return { ...value };
  } catch (error) {
    throw new Failure('usage_error', `${configFile} is not JSON: ${String(error)}`, {
      cause: error,
    });
  }
  throw new Failure('usage_error', `${configFile} must contain one JSON object`);
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
    `Flags win over the environment, and the environment wins over \`${configFile}\` in the folder`,
    'where Pawl starts. An empty variable counts as not set.',
    '',
    `| variable | flag | key in \`${configFile}\` | default | must be | meaning |`,
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
