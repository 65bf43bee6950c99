/** Reads the files of `deploy/` like the programs that use them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const deployFolder = join(root, 'deploy');

export interface ComposeService {
  readonly image?: string;
  readonly build?: { readonly context: string };
  readonly extends?: { readonly file: string; readonly service: string };
  readonly user?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly volumes?: readonly string[];
  readonly profiles?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly read_only?: boolean;
  readonly restart?: string;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly tmpfs?: readonly string[];
  readonly depends_on?: Readonly<Record<string, Dependency>>;
}

interface Dependency {
  readonly condition: string;
  readonly required?: boolean;
}

export interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks?: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes?: Readonly<Record<string, unknown>>;
}

export function readDeploy(name: string): string {
  return readFileSync(join(deployFolder, name), 'utf8');
}

/** A file at the top of the repository. */
export function readRoot(name: string): string {
  return readFileSync(join(root, name), 'utf8');
}

export function readYaml<Shape>(name: string): Shape {
  return parse(readDeploy(name), { merge: true }) as Shape;
}

/** The variables of `example.env` with their values. */
export function readExample(): Map<string, string> {
  const lines = readDeploy('example.env').split('\n');
  const pairs = lines.flatMap((line) => /^([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? []);
  const found = new Map<string, string>();
  for (let at = 0; at < pairs.length; at += 3) found.set(pairs[at + 1] ?? '', pairs[at + 2] ?? '');
  return found;
}

/** Evaluates `${NAME}`, `${NAME:-other}`, `${NAME:+then}` and `${NAME:?message}` like compose. */
export function interpolate(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(/\$\{(\w+)(?::([-+?])([^}]*))?\}/g, (_, name, kind, rest) => {
    const value = values.get(name) ?? '';
    if (value !== '') return kind === '+' ? rest : value;
    if (kind === '?') throw new Error(`${name}: ${rest}`);
    return kind === '-' ? rest : '';
  });
}

/** The services of a compose file, each with its extended environment. */
export function readCompose(name: string, values: ReadonlyMap<string, string>): Compose {
  const file = readYaml<Compose>(name);
  const services = Object.entries(file.services).map(([own, service]) => {
    const { extends: other, environment } = service;
    if (!other) return [own, service];
    const base = readYaml<Compose>(interpolate(other.file, values)).services[other.service];
    return [own, { ...service, environment: { ...base?.environment, ...environment } }];
  });
  return { ...file, services: Object.fromEntries(services) };
}

/** A size in the notation of compose and Docker, in bytes. */
export function bytesOf(size: string): number {
  const [, count = '', unit = ''] = /^(\d+)([kmg]?)b?$/i.exec(size) ?? [];
  const power = ['', 'k', 'm', 'g'].indexOf(unit.toLowerCase());
  if (count === '' || power < 0) throw new Error(`${size} is not a size`);
  return Number(count) * 1024 ** power;
}

export function variablesIn(text: string): string[] {
  return [...text.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name);
}
