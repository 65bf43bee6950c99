/**
 * Every setting, in one table: its variable, its key in `pawl.config.json`, what it may be and what
 * it means. Flags win over the environment, and the environment wins over the file.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './kernel/failure.ts';
import { limits } from './kernel/limits.ts';

export interface Config {
  readonly data: string;
  readonly host: string;
  readonly port: number;
  readonly key: string | undefined;
  readonly databaseUrl: string | undefined;
  readonly workers: number;
  readonly allowHosts: readonly string[] | undefined;
  readonly apiKeys: readonly string[] | undefined;
  readonly internalKey: string | undefined;
  readonly internalCallerIds: readonly string[] | undefined;
  readonly membershipUrl: string | undefined;
  readonly redisUrl: string | undefined;
  readonly rateCapacity: number;
  readonly rateFloor: number;
  readonly extractor: string;
  readonly extractorUrl: string | undefined;
  readonly extractorKey: string | undefined;
  readonly log: 'silent' | 'error' | 'warn' | 'info' | 'debug';
  readonly failpoint: string | undefined;
}

type Key = keyof Config;

interface Setting<K extends Key> {
  readonly variable: `PAWL_${string}`;
  readonly flag?: string;
  readonly initial: Config[K];
  /** What it may be, as it reads after "must be". */
  readonly form: string;
  readonly meaning: string;
  /** It holds a key or a password: an error does not repeat it. */
  readonly isSecret?: boolean;
  /** Only for tests: in no documentation and in no suggestion. */
  readonly isHidden?: boolean;
  /** Undefined for what it must not be. */
  parse(text: string): Config[K] | undefined;
}

const levels = ['silent', 'error', 'warn', 'info', 'debug'] as const;
const workersMax = 512;

const settings: { readonly [K in Key]: Setting<K> } = {
  data: {
    variable: 'PAWL_DATA',
    flag: '--data',
    initial: '.pawl',
    form: 'a folder',
    meaning: 'The folder of the embedded store and of the fetched bytes. It is made if absent.',
    parse: (text) => text,
  },
  host: {
    variable: 'PAWL_HOST',
    flag: '--host',
    initial: '127.0.0.1',
    form: 'the name or address of an interface of this machine',
    meaning: 'Where the service listens. Without keys or Membership: this machine only.',
    parse: (text) => (/^[^\s/?#@]+$/.test(text) ? text : undefined),
  },
  port: {
    variable: 'PAWL_PORT',
    flag: '--port',
    initial: 7300,
    form: 'a whole number from 0 to 65535',
    meaning: 'The port of the service; 0 takes one that is free.',
    parse: (text) => {
      const value = Number(text);
      return Number.isInteger(value) && value >= 0 && value <= 65_535 ? value : undefined;
    },
  },
  key: {
    variable: 'PAWL_KEY',
    initial: undefined,
    form: 'a key',
    meaning: 'The key that commands send to the service that `--url` names.',
    parse: (text) => text,
  },
  databaseUrl: {
    variable: 'PAWL_DATABASE_URL',
    initial: undefined,
    form: 'an address such as postgres://user:password@host:5432/name',
    meaning: 'A Postgres database for everything but the fetched bytes. Absent: embedded SQLite.',
    isSecret: true,
    parse: (text) => (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? text : undefined),
  },
  workers: {
    variable: 'PAWL_WORKERS',
    initial: limits.lease.itemsInFlightMax,
    form: `a whole number from 1 to ${workersMax}`,
    meaning: 'How many documents one process works on at once.',
    parse: (text) => wholeNumber(text, workersMax),
  },
  allowHosts: {
    variable: 'PAWL_ALLOW_HOSTS',
    initial: undefined,
    form: 'host:port pairs with commas between them',
    meaning:
      'Hosts that may be fetched from although they are not public, each with its exact port. ' +
      'Link-local and metadata addresses stay forbidden.',
    parse: (text) => {
      const hosts = text.split(',').map((entry) => entry.trim());
      const isPair = (entry: string): boolean =>
        /^[^/?#@\s]+:\d{1,5}$/.test(entry) && URL.canParse(`http://${entry}/`);
      return hosts.every(isPair) ? hosts : undefined;
    },
  },
  apiKeys: {
    variable: 'PAWL_API_KEYS',
    initial: undefined,
    form: 'sha256: hashes (sha256: and 64 hexadecimal digits) with commas between them',
    meaning:
      'The keys that callers may present in `X-API-Key`, by their hashes. ' +
      "`printf %s KEY | sha256sum` prints a key's hash.",
    // Whoever puts the key itself here by mistake must not find it in a log.
    isSecret: true,
    parse: (text) => list(text, /^sha256:[0-9a-f]{64}$/i),
  },
  internalKey: {
    variable: 'PAWL_INTERNAL_KEY',
    initial: undefined,
    form: `${limits.key.internalCharactersMin} to ${limits.key.charactersMax} printable characters`,
    meaning: "The key by which Pawl's own services know each other.",
    isSecret: true,
    parse: (text) => {
      const { internalCharactersMin: least, charactersMax: most } = limits.key;
      return new RegExp(`^[\\x21-\\x7e]{${least},${most}}$`).test(text) ? text : undefined;
    },
  },
  internalCallerIds: {
    variable: 'PAWL_INTERNAL_CALLER_IDS',
    initial: undefined,
    form: 'caller ids with commas between them',
    meaning: 'Callers that count as services of Pawl, by the id that Membership or the key gives.',
    parse: (text) => list(text, /^[\x21-\x7e]{1,128}$/),
  },
  membershipUrl: {
    variable: 'PAWL_MEMBERSHIP_URL',
    initial: undefined,
    form: 'an http or https address without user, query or fragment',
    meaning: 'The service that is asked about keys which `PAWL_API_KEYS` does not name.',
    isSecret: true,
    parse: (text) => {
      const url = URL.parse(text);
      const isPlain = url?.href === `${url?.origin}${url?.pathname}`;
      return isPlain && /^https?:$/.test(url?.protocol ?? '') ? text : undefined;
    },
  },
  redisUrl: {
    variable: 'PAWL_REDIS_URL',
    initial: undefined,
    form: 'an address such as redis://user:password@host:6379/0',
    meaning: 'Where several processes count requests together. Absent: each counts its own.',
    isSecret: true,
    parse: (text) => (/^rediss?:\/\//.test(text) && URL.canParse(text) ? text : undefined),
  },
  rateCapacity: {
    variable: 'PAWL_RATE_CAPACITY',
    initial: limits.rate.capacityRequests,
    form: `a whole number from 1 to ${limits.rate.claimedRequestsMax}`,
    meaning: 'Requests in an hour that are shared out among the callers of that hour.',
    parse: (text) => wholeNumber(text, limits.rate.claimedRequestsMax),
  },
  rateFloor: {
    variable: 'PAWL_RATE_FLOOR',
    initial: limits.rate.floorRequests,
    form: `a whole number from 1 to ${limits.rate.claimedRequestsMax}`,
    meaning: 'Requests in an hour that every caller has, however many there are.',
    parse: (text) => wholeNumber(text, limits.rate.claimedRequestsMax),
  },
  extractor: {
    variable: 'PAWL_EXTRACTOR',
    initial: 'local',
    form: 'local, or openai:MODEL',
    meaning:
      'What finds the entities of documents: rules and lists, or a model behind an interface ' +
      "like OpenAI's. With a model, the text of every document is sent to it.",
    parse: (text) => (/^(?:local|openai:\S+)$/.test(text) ? text : undefined),
  },
  extractorUrl: {
    variable: 'PAWL_EXTRACTOR_URL',
    initial: undefined,
    form: 'an http or https address such as https://host/v1',
    meaning: "Where the model of `PAWL_EXTRACTOR` is. Absent: OpenAI's own address.",
    isSecret: true,
    parse: (text) => (/^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined),
  },
  extractorKey: {
    variable: 'PAWL_EXTRACTOR_KEY',
    initial: undefined,
    form: 'the key that the provider gave out',
    meaning: 'The key for the model of `PAWL_EXTRACTOR`, if it needs one.',
    isSecret: true,
    parse: (text) => text,
  },
  log: {
    variable: 'PAWL_LOG',
    initial: 'warn',
    form: `one of ${levels.join(', ')}`,
    meaning: 'How much is told on stderr. With `debug`, errors come with their stack.',
    parse: (text) => levels.find((level) => level === text),
  },
  failpoint: {
    variable: 'PAWL_FAILPOINT',
    initial: undefined,
    form: 'NAME:kill or NAME:stop, perhaps with :NTH',
    meaning: 'Ends or stops the process at a named moment, for tests.',
    isHidden: true,
    parse: (text) => text,
  },
};

function wholeNumber(text: string, most: number): number | undefined {
  const value = Number(text);
  return Number.isInteger(value) && value >= 1 && value <= most ? value : undefined;
}

function list(text: string, entry: RegExp): readonly string[] | undefined {
  const entries = text.split(',').map((part) => part.trim());
  return entries.every((part) => entry.test(part)) ? entries : undefined;
}

export const configFile = 'pawl.config.json';

export interface ConfigInput {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The text of `pawl.config.json`, if there is one. */
  readonly file?: string | undefined;
  readonly flags?: { readonly [K in Key]?: string | undefined };
}

export interface LoadedConfig {
  readonly config: Config;
  /** What was set but is not known, each with what may have been meant. */
  readonly warnings: readonly string[];
}

export function loadConfig({ environment, file, flags = {} }: ConfigInput): LoadedConfig {
  const stored = readObject(file);
  const read = <K extends Key>(key: K): Config[K] => {
    const { variable, flag = variable, initial } = settings[key];
    if (flags[key] !== undefined) return parse(key, flags[key], flag);
    // An empty variable is one that is not set: shells and compose files cannot say it otherwise.
    const text = environment[variable];
    if (text !== undefined && text !== '') return parse(key, text, variable);
    return key in stored ? parse(key, String(stored[key]), `${key} in ${configFile}`) : initial;
  };
  const config = {
    data: read('data'),
    host: read('host'),
    port: read('port'),
    key: read('key'),
    databaseUrl: read('databaseUrl'),
    workers: read('workers'),
    allowHosts: read('allowHosts'),
    apiKeys: read('apiKeys'),
    internalKey: read('internalKey'),
    internalCallerIds: read('internalCallerIds'),
    membershipUrl: read('membershipUrl'),
    redisUrl: read('redisUrl'),
    rateCapacity: read('rateCapacity'),
    rateFloor: read('rateFloor'),
    extractor: read('extractor'),
    extractorUrl: read('extractorUrl'),
    extractorKey: read('extractorKey'),
    log: read('log'),
    failpoint: read('failpoint'),
  };
  return { config, warnings: [...unknownVariables(environment), ...unknownKeys(stored)] };
}

/** The text of the configuration file of a folder, or undefined where there is none. */
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
  throw new Failure('usage_error', `${configFile} must hold one JSON object`);
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

/** The name that was most likely meant; of two as close, the one that was only cut short. */
export function closestOf(name: string, known: readonly string[]): string {
  const far = (other: string): number => distance(name, other) - (other.startsWith(name) ? 0.5 : 0);
  return known.toSorted((one, other) => far(one) - far(other))[0] ?? '';
}

/** How many letters must be added, removed or replaced to make one name of the other. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let line = 1; line <= one.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (one[line - 1] === other[column - 1] ? 0 : 1);
      next.push(Math.min((row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[other.length] ?? 0;
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
    '<!-- Written from src/config.ts. Do not edit by hand. -->',
    '',
    `Flags win over the environment, and the environment wins over \`${configFile}\` in the folder`,
    'where Pawl is started. An empty variable counts as not set.',
    '',
    `| variable | flag | key in \`${configFile}\` | unless set | must be | meaning |`,
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
