/**
 * The page of rules: tables with the columns id, rule, code and test. A place in the code is a path
 * in backticks, with an optional symbol in parentheses; a test is a path and a quoted title.
 */
export interface Rule {
  readonly id: string;
  readonly rule: string;
  readonly code: readonly { readonly path: string; readonly symbol: string | undefined }[];
  readonly tests: readonly { readonly path: string; readonly title: string }[];
}

/** Reads a file of the repository; undefined if it does not exist. */
export type ReadFile = (path: string) => string | undefined;

const place = /`([^`]+)`(?: \(`([^`]+)`\))?/g;
const proof = /`([^`]+)`: "((?:[^"\\]|\\.)*)"/g;
const separator = ', ';

export function readRules(page: string): Rule[] {
  return page
    .split('\n')
    .filter((line) => /^\| (?!id |---)/.test(line))
    .map(readRow);
}

function readRow(line: string): Rule {
  const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
  const [, id = '', rule = '', code = '', test = ''] = cells;
  if (cells.length !== 6) throw new Error(`this row does not have four cells: ${line}`);
  const places = [...code.matchAll(place)];
  const proofs = [...test.matchAll(proof)];
  for (const [cell, found] of [
    [code, places],
    [test, proofs],
  ] as const) {
    const read = found.map(([text]) => text).join(separator);
    if (read !== cell) throw new Error(`${id}: this cell cannot be read: ${cell}`);
  }
  return {
    ...{ id, rule },
    code: places.map(([, path = '', symbol]) => ({ path, symbol })),
    tests: proofs.map(([, path = '', title = '']) => ({
      path,
      title: title.replaceAll('\\"', '"'),
    })),
  };
}

/** What is wrong with the page, one sentence each. */
export function checkRules(page: string, readFile: ReadFile): string[] {
  const rules = readRules(page);
  return [
    ...checkIds(rules),
    ...rules.flatMap((rule) => [...checkCode(rule, readFile), ...checkTests(rule, readFile)]),
    ...checkLinks(page, readFile),
  ];
}

function checkIds(rules: readonly Rule[]): string[] {
  const seen = new Set<string>();
  const broken: string[] = [];
  for (const { id, rule } of rules) {
    if (!/^[a-z]+-\d+$/.test(id)) broken.push(`${id} is not an id: write it like job-12`);
    if (seen.has(id)) broken.push(`${id} is used twice: take the next free number`);
    if (rule === '') broken.push(`${id} has no rule`);
    seen.add(id);
  }
  return broken;
}

function checkCode({ id, code }: Rule, readFile: ReadFile): string[] {
  if (code.length === 0) return [`${id} names no place in the code`];
  return code.flatMap(({ path, symbol }) => {
    const text = readFile(path);
    if (text === undefined) return [`${id} names ${path}, which does not exist`];
    if (symbol === undefined || hasWord(text, symbol)) return [];
    return [`${id} names ${symbol}, which is not in ${path}`];
  });
}

function checkTests({ id, tests }: Rule, readFile: ReadFile): string[] {
  if (tests.length === 0) return [`${id} has no test`];
  return tests.flatMap(({ path, title }) => {
    const text = readFile(path);
    if (text === undefined) return [`${id} names ${path}, which does not exist`];
    if (!/\.test\.ts$|^test\/contract\//.test(path)) return [`${id}: ${path} is not a test file`];
    if (["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote}`))) return [];
    return [`${id} names the test "${title}", which is not in ${path}`];
  });
}

function checkLinks(page: string, readFile: ReadFile): string[] {
  return [...page.matchAll(/\]\((?!https?:)([^)#]+)/g)]
    .map(([, target = '']) => `docs/${target}`)
    .filter((path) => readFile(path) === undefined)
    .map((path) => `the page links to ${path}, which does not exist`);
}

/** As a whole word, also for a private method, which begins with a hash. */
function hasWord(text: string, word: string): boolean {
  const letter = /[\w$]/;
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const [before, after] = [text.charAt(at - 1), text.charAt(at + word.length)];
    if (!letter.test(before) && !letter.test(after)) return true;
  }
  return false;
}
