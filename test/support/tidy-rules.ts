/** The rules of STYLE.md that a machine can check, each a function from a file to its findings. */
import { builtinModules } from 'node:module';
import { dirname, join, normalize } from 'node:path/posix';
import { lineAt, lineText, type Source } from './source-text.ts';

export interface Finding {
  readonly rule: string;
  readonly path: string;
  readonly line: number;
  readonly offender: string;
  readonly message: string;
}

export type Rule = (source: Source) => Finding[];

/** A forbidden pattern, where it is forbidden, and why. */
export interface BannedText {
  readonly rule: string;
  readonly pattern: RegExp;
  /** Which view of the file is searched: everything, only code, or all but comments. */
  readonly view: 'text' | 'code' | 'uncommented';
  isBannedIn(path: string): boolean;
  readonly message: string;
}

export interface SizeLimits {
  readonly fileLines: number;
  readonly functionLines: number;
  readonly lineColumns: number;
}

export interface ImportTables {
  /** Per folder of src/: the folders, or single files, that it may import from. */
  readonly folders: Readonly<Record<string, readonly string[]>>;
  /** Single files with a shorter list. The files of src/ itself may import anything. */
  readonly files: Readonly<Record<string, readonly string[]>>;
  /** Packages and guarded modules of Node: the folders, or files, that may import them. */
  readonly packages: Readonly<Record<string, readonly string[]>>;
  /** Folders that import no package but these: they decide, and have no effects. */
  readonly pureFolders: Readonly<Record<string, readonly string[]>>;
}

export const isTest = (path: string): boolean =>
  path.startsWith('test/') || /\.test\.tsx?$/.test(path);

export function sizeRule(limits: SizeLimits): Rule {
  return (source) => {
    const lines = source.text.replace(/\n$/, '').split('\n');
    const findings: Finding[] = [];
    if (lines.length > limits.fileLines) {
      const message = `has ${lines.length} lines; the limit is ${limits.fileLines}`;
      findings.push(at(source, 'file-size', lines.length, message));
    }
    lines.forEach((line, index) => {
      if (line.length <= limits.lineColumns || hasLongAddress(line)) return;
      const message = `has ${line.length} columns; the limit is ${limits.lineColumns}`;
      findings.push(at(source, 'line-length', index + 1, message));
    });
    for (const { line, length } of functionsOf(source)) {
      if (length <= limits.functionLines) continue;
      const message = `is a function of ${length} lines; the limit is ${limits.functionLines}`;
      findings.push(at(source, 'function-size', line, message));
    }
    return findings;
  };
}

export function nameRule(bannedWords: readonly string[]): Rule {
  return (source) =>
    source.path.split('/').flatMap((segment, index, segments) => {
      const isFile = index === segments.length - 1;
      const name = isFile ? segment.replace(/(\.test)?\.[a-z]+$/, '') : segment;
      if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) {
        return [at(source, 'name', 1, `\`${segment}\` is not kebab-case`)];
      }
      const word = name.split('-').find((part) => bannedWords.includes(part.replace(/s$/, '')));
      if (word === undefined) return [];
      return [at(source, 'name', 1, `\`${word}\` says nothing: name what the file contains`)];
    });
}

export function bannedTextRule(ban: BannedText): Rule {
  return (source) => {
    if (!ban.isBannedIn(source.path)) return [];
    const matches = source[ban.view].matchAll(new RegExp(ban.pattern, 'g'));
    return [...matches].map((match) =>
      at(source, ban.rule, lineAt(source.text, match.index), ban.message),
    );
  };
}

/** SQL that writes a state column belongs to one module per table. */
export function stateWriteRule(
  columns: readonly string[],
  writers: Readonly<Record<string, readonly string[]>>,
): Rule {
  const tables = Object.keys(writers).join('|');
  const write = new RegExp(
    `\\b(?:UPDATE\\s+(?:ONLY\\s+)?|INSERT\\s+INTO\\s+)(${tables})\\b[^;\`]*?\\bSET\\s([^;\`]*)`,
    'gi',
  );
  const assignment = new RegExp(
    `(?:^|[,\\s])(?:${columns.join('|')})\\s*=|\\([^)]*\\b(?:${columns.join('|')})\\b[^)]*\\)\\s*=`,
    'i',
  );
  return (source) => {
    if (!source.path.startsWith('src/') || isTest(source.path)) return [];
    return [...source.uncommented.matchAll(write)].flatMap((match) => {
      const [, table = '', tail = ''] = match;
      const assignments = tail.split(/\b(?:WHERE|FROM|RETURNING)\b/i)[0] ?? '';
      const allowed = writers[table.toLowerCase()] ?? [];
      if (!assignment.test(assignments) || isWithin(source.path, allowed)) return [];
      const message = `writes a state column of ${table}; only ${allowed.join(', ')} may`;
      return [at(source, 'state-write', lineAt(source.text, match.index), message)];
    });
  };
}

/**
 * States are named in the kernel's tables. Elsewhere they come from there: a quoted one beside a
 * state column, in SQL or in a comparison, would stay behind when the table changes.
 */
export function stateLiteralRule(columns: readonly string[], states: readonly string[]): Rule {
  const column = `(?<!#)\\b(?:${columns.join('|')})\\b`;
  const state = `['"](?:${states.join('|')})['"]`;
  const operator = String.raw`\)?\s*(?:[!=]==|=|<>|!=|(?:NOT\s+)?IN\s*\()\s*`;
  const beside = new RegExp(`${column}${operator}${state}|${state}\\s*[!=]==\\s*${column}`, 'gi');
  return (source) =>
    [...source.uncommented.matchAll(beside)].map((match) =>
      at(
        source,
        'state-literal',
        lineAt(source.text, match.index),
        `take ${match[0]} from a table`,
      ),
    );
}

export function importRule(tables: ImportTables): Rule {
  return (source) => {
    if (!source.path.startsWith('src/') || isTest(source.path)) return [];
    return importsOf(source).flatMap(({ line, specifier }) => {
      const problem = specifier.startsWith('.')
        ? relativeImportProblem(tables, source.path, specifier)
        : packageProblem(tables, source.path, specifier);
      return problem ? [at(source, 'import', line, problem)] : [];
    });
  };
}

/** The workbench runs in a browser: its own packages, and of src/ only what is listed here. */
export function webImportRule(tables: {
  readonly packages: readonly string[];
  readonly sources: readonly string[];
  readonly typesOnly: readonly string[];
}): Rule {
  return (source) => {
    if (!source.path.startsWith('web/') || isTest(source.path)) return [];
    return importsOf(source).flatMap(({ line, specifier }) => {
      const target = normalize(join(dirname(source.path), specifier));
      const isType = /^\s*import type\b/.test(lineText(source.text, line));
      const allowed = isType ? [...tables.sources, ...tables.typesOnly] : tables.sources;
      const isFine = specifier.startsWith('.')
        ? target.startsWith('web/') || isWithin(target, allowed.map(inSrc))
        : tables.packages.includes(packageName(specifier));
      const message = 'the workbench may not import this; only types come from the contract';
      return isFine ? [] : [at(source, 'web-import', line, message)];
    });
  };
}

function relativeImportProblem(tables: ImportTables, path: string, specifier: string) {
  const target = normalize(join(dirname(path), specifier));
  if (!target.startsWith('src/') || isTest(target)) return 'src/ imports only from src/, no tests';
  const from = folderOf(path);
  const own = tables.files[path];
  if (own) {
    if (isWithin(target, own.map(inSrc))) return undefined;
    return `${path} may import only from: ${own.join(', ')}`;
  }
  if (from === '') return undefined;
  const allowed = tables.folders[from];
  if (!allowed) return `src/${from}/ is not in the table of allowed imports`;
  if (folderOf(target) === from || isWithin(target, allowed.map(inSrc))) return undefined;
  return `${from} may import only from: ${[from, ...allowed].join(', ')}`;
}

function packageProblem(tables: ImportTables, path: string, specifier: string) {
  const name = packageName(specifier);
  const pure = tables.pureFolders[folderOf(path)];
  if (pure) return pure.includes(name) ? undefined : `src/${folderOf(path)}/ is pure: no ${name}`;
  const allowed = tables.packages[name];
  if (allowed) {
    if (isWithin(path, allowed.map(inSrc))) return undefined;
    return `${name} may be imported only in: ${allowed.map(inSrc).join(', ')}`;
  }
  if (builtinModules.includes(name.replace(/^node:/, ''))) {
    return name.startsWith('node:') ? undefined : `write node:${name}`;
  }
  return `${name} is not in the table of packages; a new dependency has a page in docs/decisions/`;
}

export function importsOf(source: Source): { line: number; specifier: string }[] {
  const patterns = [
    /\b(?:import|export)\b[^'"`;()]*?\bfrom\s*['"]([^'"\n]+)['"]/g,
    /\bimport\s*\(?\s*['"]([^'"\n]+)['"]/g,
  ];
  return patterns
    .flatMap((pattern) => [...source.uncommented.matchAll(pattern)])
    .filter((match) => /^(?:import|export)/.test(source.code.slice(match.index)))
    .map((match) => ({ line: lineAt(source.text, match.index), specifier: match[1] ?? '' }));
}

/**
 * Finds functions by their indentation, which the formatter guarantees: from the first line to the
 * next line of the same indentation that closes its braces. Groups of tests do not count.
 */
export function functionsOf(source: Source): { line: number; length: number }[] {
  const lines = source.code.split('\n');
  const lengths = new Map<number, number>();
  lines.forEach((line, index) => {
    if (!opensBlock(line)) return;
    const first = headerStart(lines, index);
    const header = lines
      .slice(first, index + 1)
      .join(' ')
      .trim();
    if (!isFunctionHeader(header)) return;
    const close = new RegExp(`^${indentOf(line)}\\}`);
    const closes = (text: string) => close.test(text) && !opensBlock(text);
    const last = lines.findIndex((text, place) => place > index && closes(text));
    if (last !== -1) lengths.set(first + 1, last - first + 1);
  });
  return [...lengths].map(([line, length]) => ({ line, length }));
}

function opensBlock(line: string): boolean {
  return /\{\s*$/.test(line);
}

/** A line such as `): Promise<void> {` or `}) => {` ends a header that began further up. */
function headerStart(lines: readonly string[], index: number): number {
  const indent = indentOf(lines[index] ?? '');
  let first = index;
  while (first > 0 && /^\s*[)}]/.test(lines[first] ?? '')) {
    const isBeside = (line: string) => line.trim() !== '' && indentOf(line) === indent;
    const above = lines.slice(0, first).findLastIndex(isBeside);
    if (above === -1) return index;
    first = above;
  }
  return first;
}

const methodHeader =
  /^(?:(?:static|async|get|set|override|private|public)\s+)*\*?#?\w+(?:<[^(]*>)?\(/;

function isFunctionHeader(header: string): boolean {
  if (/^(?:if|for|while|switch|try|do|else|catch|finally)\b/.test(header)) return false;
  if (/^(?:describe|suite)\b/.test(header)) return false;
  return /=>\s*\{$/.test(header) || /\bfunction\b/.test(header) || methodHeader.test(header);
}

/** A link cannot be broken. */
function hasLongAddress(line: string): boolean {
  return /https?:\/\/\S{60,}/.test(line);
}

function at(source: Source, rule: string, line: number, message: string): Finding {
  const offender = lineText(source.text, line).trim().slice(0, 100);
  return { rule, path: source.path, line, offender, message };
}

function inSrc(place: string): string {
  return `src/${place}`;
}

/** Places are folders, or files with their extension. */
function isWithin(path: string, places: readonly string[]): boolean {
  return places.some((place) => path === place || path.startsWith(`${place}/`));
}

/** The folder directly below src/; empty for a file of src/ itself. */
function folderOf(path: string): string {
  const [, folder = '', rest] = path.split('/');
  return rest === undefined ? '' : folder;
}

function packageName(specifier: string): string {
  const parts = specifier.split('/');
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}

function indentOf(line: string): string {
  return /^\s*/.exec(line)?.[0] ?? '';
}
