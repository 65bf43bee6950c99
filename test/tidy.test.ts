/** The style that a machine can check: the tables are the rules, each with its reason. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { imports, webImports } from './support/import-table.ts';
import { readSource, type Source } from './support/source-text.ts';
import {
  type BannedText,
  bannedTextRule,
  type Finding,
  functionsOf,
  importRule,
  importsOf,
  isTest,
  nameRule,
  type Rule,
  sizeRule,
  stateWriteRule,
  webImportRule,
} from './support/tidy-rules.ts';

/** Files that break a rule for a reason. The list only shrinks: an unnecessary entry fails. */
const exceptions: readonly { path: string; rule: string; reason: string }[] = [
  {
    path: 'web/vite-options.ts',
    rule: 'web-import',
    reason: 'the build reads it, not a browser',
  },
  {
    path: 'test/support/test-reporter.ts',
    rule: 'default-export',
    reason: 'node loads a test reporter by its default export',
  },
  {
    path: 'test/contract/support.test.ts',
    rule: 'patience',
    reason: 'it tests the message after a timeout',
  },
];

const limits = { fileLines: 400, functionLines: 60, lineColumns: 100 };

const bannedWords = 'util common helper manager base impl data info misc shared'.split(' ');

const inSrc = (path: string) => path.startsWith('src/') && !isTest(path);
const anywhere = () => true;
/** Where clock, randomness and timers are passed in, so that the simulation can control them. */
const isDeterministic = (path: string) =>
  inSrc(path) && /^src\/(kernel|engine|store|pipeline)\//.test(path);
const isCli = (path: string) => path.startsWith('src/cli/');

const bannedTexts: readonly BannedText[] = [
  {
    rule: 'unfinished',
    pattern: /\b(?:TO[D]O|FIX[M]E|XX[X]|HAC[K])\b/,
    view: 'text',
    isBannedIn: anywhere,
    message: 'do it now, or drop it: the code is no place for to-do notes',
  },
  {
    rule: 'silenced-types',
    pattern: /@ts-(?:ignore|nocheck)\b/,
    view: 'text',
    isBannedIn: anywhere,
    message: 'the type is wrong: fix it',
  },
  {
    rule: 'any',
    pattern: /\bas\s+any\b/,
    view: 'code',
    isBannedIn: anywhere,
    message: 'any switches off the compiler: narrow from unknown',
  },
  {
    rule: 'only',
    pattern: /\.only\(|\bonly:\s*true\b/,
    view: 'code',
    isBannedIn: anywhere,
    message: 'the other tests would be skipped silently',
  },
  {
    rule: 'console',
    pattern: /\bconsole\.\w+\(/,
    view: 'code',
    isBannedIn: (path) => inSrc(path) && !isCli(path),
    message: 'only the CLI prints; everything else reports through observe/',
  },
  {
    rule: 'effect',
    pattern: /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bset(?:Timeout|Interval)\(/,
    view: 'code',
    isBannedIn: isDeterministic,
    message: 'time and chance are passed in: take them from the world',
  },
  {
    rule: 'enum',
    pattern: /\benum\s+\w+\s*\{/,
    view: 'code',
    isBannedIn: anywhere,
    message: 'node cannot strip an enum: use a union of strings',
  },
  {
    rule: 'spread-literal',
    pattern: /\.\.\.\{/,
    view: 'code',
    isBannedIn: inSrc,
    message: 'a spread of a literal only saves lines: write plain properties',
  },
  {
    rule: 'default-export',
    pattern: /\bexport\s+default\b/,
    view: 'code',
    isBannedIn: anywhere,
    message: 'one name per thing: export it by its name',
  },
  {
    rule: 'patience',
    pattern: /\bAbortSignal\.timeout\(|\b(?:timeout|patienceMs): \d|\bsetDefaultTimeout\(\d/,
    view: 'code',
    isBannedIn: (path) => isTest(path) && path !== 'test/support/patience.ts',
    message: 'a busy machine takes longer: take the bound from test/support/patience.ts',
  },
  {
    rule: 'wall-time',
    pattern: /\b(?:performance|Date)\.now\(\) - \w+ <=? ?\d/,
    view: 'code',
    isBannedIn: isTest,
    message: 'a busy machine takes longer: measure as test/support/measure.ts does',
  },
  {
    rule: 'sleep',
    pattern: /\bsetTimeout\b/,
    view: 'code',
    isBannedIn: (path) => /\.test\.tsx?$/.test(path),
    message: 'tests wait for events: use until, or a world whose time the test controls',
  },
];

const stateColumns = ['step', 'state', 'waits_on'];
const stateWriters = {
  items: [
    ...['moves', 'interventions', 'lost-leases'].map((name) => `src/store/item/${name}.ts`),
    'src/store/migration',
  ],
  jobs: ['src/store/job/moves.ts', 'src/store/migration'],
  batch_tasks: ['src/store/batch/tasks.ts', 'src/store/migration'],
};

const rules: readonly Rule[] = [
  sizeRule(limits),
  nameRule(bannedWords),
  importRule(imports),
  webImportRule(webImports),
  stateWriteRule(stateColumns, stateWriters),
  ...bannedTexts.map(bannedTextRule),
];

describe('the sources keep the style', () => {
  const findings = readProject().flatMap(check);
  const isExcepted = (finding: Finding) =>
    exceptions.some(({ path, rule }) => finding.path === path && finding.rule === rule);

  test('no rule is broken', () => {
    const broken = findings.filter((finding) => !isExcepted(finding)).map(describeFinding);
    if (broken.length > 0) assert.fail(`${broken.length} places:\n${broken.join('\n')}`);
  });

  for (const { path, rule, reason } of exceptions) {
    test(`${path} still needs its exception from ${rule} (${reason})`, () => {
      assert.ok(findings.some((finding) => finding.path === path && finding.rule === rule));
    });
  }
});

/** A folder is one idea: with more files than this it holds a second one. */
const folderFilesMax = 20;

test(`no folder of src/ has more than ${folderFilesMax} files`, () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const counts = new Map<string, number>();
  for (const path of globSync('src/**/*.*', { cwd: root })) {
    const folder = dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const crowded = [...counts].filter(([, count]) => count > folderFilesMax);
  assert.deepEqual(crowded, []);
});

describe('the lockfile', () => {
  const lock = readFileSync(
    fileURLToPath(new URL('../package-lock.json', import.meta.url)),
    'utf8',
  );
  const { packages } = JSON.parse(lock) as { packages: Record<string, LockedPackage> };

  test('records no download addresses', () => {
    assert.equal(lock.includes('"resolved"'), false);
  });

  test('names every optional package, or a clean install refuses it', () => {
    const wanted = Object.values(packages).flatMap((entry) =>
      Object.keys(entry.optionalDependencies ?? {}),
    );
    assert.deepEqual(
      wanted.filter((name) => !packages[`node_modules/${name}`]),
      [],
    );
  });
});

/** One bad snippet per row, and what is found in it; an empty list means that it is valid. */
const samples: readonly [path: string, text: string, found: readonly string[]][] = [
  ['src/store/a.ts', 'x\n'.repeat(400), []],
  ['src/store/a.ts', 'x\n'.repeat(401), ['file-size:401']],
  ['src/store/a.ts', `x = ${'1'.repeat(96)};`, ['line-length:1']],
  ['src/store/a.ts', functionOf(60), []],
  ['src/store/a.ts', functionOf(61), ['function-size:1']],
  ['src/store/a-utils.ts', '', ['name:1']],
  ['src/store/info/a.ts', '', ['name:1']],
  ['src/store/driver/database.ts', '', []],
  ['src/store/CamelCase.ts', '', ['name:1']],
  ['src/kernel/a.ts', "import type { A } from '../store/a.ts';", ['import:1']],
  ['src/kernel/a.ts', "import { b } from './b.ts';", []],
  ['src/kernel/a.ts', "import { join } from 'node:path';", ['import:1']],
  ['src/kernel/a.ts', "import assert from 'node:assert/strict';", []],
  ['src/kernel/a.test.ts', "import { join } from 'node:path';", []],
  ['src/store/a.ts', "import { a } from '../kernel/a.ts';", []],
  ['src/store/a.ts', "export * from '../engine/a.ts';", ['import:1']],
  ['src/store/a.ts', "\nconst a = await import('../queue/a.ts');", ['import:2']],
  ['src/store/a.ts', "import '../app/wire.ts';", ['import:1']],
  ['src/store/a.ts', "import { a } from './a.test.ts';", ['import:1']],
  ['src/store/a.ts', "import { a } from '../../test/support/a.ts';", ['import:1']],
  ['src/pipeline/fetch/a.ts', "import { a } from '../../sink/sink.ts';", []],
  ['src/pipeline/fetch/a.ts', "import { a } from '../../sink/qdrant.ts';", ['import:1']],
  ['src/search/a.ts', "import { a } from '../access/a.ts';", ['import:1']],
  ['src/service/a.ts', "import { a } from '../access/a.ts';", []],
  ['src/novel/a.ts', "import { a } from '../kernel/a.ts';", ['import:1']],
  ['src/app/settings/config.ts', "import { a } from '../../store/a.ts';", ['import:1']],
  ['src/app/wire.ts', "import { a } from '../store/a.ts';", []],
  ['src/store/a.ts', "import pg from 'pg';", []],
  ['src/engine/a.ts', "import pg from 'pg';", ['import:1']],
  ['src/engine/a.ts', "import sqlite from 'node:sqlite';", ['import:1']],
  ['src/engine/a.ts', "import { join } from 'path';", ['import:1']],
  ['src/engine/a.ts', "import { x } from '@scope/unlisted/deep';", ['import:1']],
  ['web/page/a.tsx', "import type { A } from '../../src/contract/contract.ts';", []],
  ['web/page/a.tsx', "import { a } from '../../src/contract/contract.ts';", ['web-import:1']],
  ['web/page/a.tsx', "import { a } from '../../src/kernel/lifecycle/job.ts';", []],
  ['web/page/a.tsx', "import { a } from '../../src/store/job/jobs.ts';", ['web-import:1']],
  ['web/page/a.tsx', "import fs from 'node:fs';", ['web-import:1']],
  ['src/engine/a.ts', `// ${'TO'}DO later`, ['unfinished:1']],
  ['src/engine/a.ts', `// @ts-${'ignore'}`, ['silenced-types:1']],
  ['src/engine/a.ts', 'const a = b as any;', ['any:1']],
  ['src/engine/a.ts', "const a = 'as any';", []],
  ['src/engine/a.test.ts', "test.only('a', run);", ['only:1']],
  ['src/engine/a.ts', "console.log('a');", ['console:1']],
  ['src/cli/main.ts', "console.log('a');", []],
  ['src/engine/a.ts', '\nconst now = Date.now();', ['effect:2']],
  ['src/kernel/a.ts', 'const now = new Date();', ['effect:1']],
  ['src/kernel/a.ts', 'const now = new Date(at);', []],
  ['src/store/a.ts', 'const dice = Math.random();', ['effect:1']],
  ['src/pipeline/a.ts', 'setTimeout(run, 10);', ['effect:1']],
  ['src/pipeline/a.ts', 'setInterval(run, 10);', ['effect:1']],
  ['src/app/world.ts', 'setTimeout(run, 10);', []],
  ['src/engine/a.ts', 'enum Colour { Red }', ['enum:1']],
  ['src/engine/a.ts', 'const a = { ...{ b, c }, d };', ['spread-literal:1']],
  ['src/engine/a.ts', 'const a = { ...(b && { c }), ...d };', []],
  ['src/engine/a.ts', 'export default run;', ['default-export:1']],
  ['src/engine/a.test.ts', "test('a', { timeout: 60_000 }, run);", ['patience:1']],
  ['src/engine/a.test.ts', "test('a', { timeout: patience.testMs }, run);", []],
  ['test/e2e/a.ts', 'fetch(url, { signal: AbortSignal.timeout(10_000) });', ['patience:1']],
  ['src/queue/a.ts', 'fetch(url, { signal: AbortSignal.timeout(10_000) });', []],
  ['test/e2e/a.test.ts', "until(is, { what: 'it', patienceMs: 500 });", ['patience:1']],
  ['test/e2e/a.test.ts', 'assert.ok(performance.now() - startedAt < 50);', ['wall-time:1']],
  ['test/e2e/a.test.ts', 'assert.ok(Date.now() - askedAt >= 249);', []],
  ['test/e2e/a.test.ts', 'await new Promise((resolve) => setTimeout(resolve, 10));', ['sleep:1']],
  ['src/engine/a.ts', 'sql`UPDATE items SET step = 1`', ['state-write:1']],
  ['src/engine/a.ts', 'sql`UPDATE jobs\n  SET a = 1, state = :to`', ['state-write:1']],
  ['src/store/a.ts', 'sql`UPDATE items SET (a, waits_on) = (1, 2)`', ['state-write:1']],
  [
    'src/store/a.ts',
    'sql`INSERT INTO jobs (id) ON CONFLICT (id) DO UPDATE SET state = 1`',
    ['state-write:1'],
  ],
  ['src/store/a.ts', "sql`UPDATE items SET rank = 1 WHERE step = 'done'`", []],
  ['src/store/a.ts', 'sql`UPDATE items SET next_step = 1`', []],
  ['src/store/item/moves.ts', 'sql`UPDATE items SET step = 1`', []],
  ['src/store/migration/0002-a.ts', 'sql`UPDATE items SET step = 1`', []],
];

describe('the rules', () => {
  for (const [path, text, expected] of samples) {
    const title = text.replaceAll('\n', ' ').slice(0, 50).trim() || path;
    test(`find ${expected.join(', ') || 'nothing'} in ${path}: ${title}`, () => {
      const found = check(readSource(path, text)).map(({ rule, line }) => `${rule}:${line}`);
      assert.deepEqual(found, expected);
    });
  }

  test('each has a sample in which it finds something', () => {
    const sizes = ['file-size', 'line-length', 'function-size'];
    const named = [...sizes, 'name', 'import', 'web-import', 'state-write'];
    const sampled = samples.flatMap(([, , found]) => found.map((place) => place.split(':')[0]));
    const all = [...named, ...bannedTexts.map(({ rule }) => rule)];
    assert.deepEqual(
      all.filter((rule) => !sampled.includes(rule)),
      [],
    );
  });
});

describe('the scanner', () => {
  const code = (text: string) => readSource('a.ts', text).code.replace(/ +/g, ' ').trim();

  const views: readonly [text: string, code: string][] = [
    ["a('x') // b", 'a( )'],
    ['/* a */ b', 'b'],
    ['a = `x ${b({ c: `y ${d}` })} z` + e', 'a = b({ c: d }) + e'],
    ['a = /[\'"`]/.test(b)', 'a = .test(b)'],
    ['a = b / c / d', 'a = b / c / d'],
    ["a = '\\'' + b", 'a = + b'],
    ['return /[/`]/', 'return'],
  ];
  for (const [text, expected] of views) {
    test(`sees the code in ${text}`, () => assert.equal(code(text), expected));
  }

  test('finds functions, methods and arrows with headers over many lines', () => {
    const text = [
      'export async function run(',
      '  a: string,',
      '): Promise<{ b: string }> {',
      '  if (a) {',
      '    b();',
      '  }',
      '}',
      'class Loop {',
      '  stop(): void {',
      '    a();',
      '  }',
      '}',
      'const pick = ({',
      '  a,',
      '}: {',
      '  a: string;',
      '}) => {',
      '  return a;',
      '};',
    ].join('\n');
    assert.deepEqual(functionsOf(readSource('a.ts', text)), [
      { line: 1, length: 7 },
      { line: 9, length: 3 },
      { line: 13, length: 7 },
    ]);
  });

  test('ignores an import in a comment or in a string', () => {
    const text =
      "// import './a.ts'\nconst b = \"import './c.ts'\";\nimport {\n  d,\n} from './d.ts';";
    assert.deepEqual(importsOf(readSource('a.ts', text)), [{ line: 3, specifier: './d.ts' }]);
  });
});

interface LockedPackage {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function check(source: Source): Finding[] {
  return rules.flatMap((rule) => rule(source));
}

function readProject(): Source[] {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const paths = globSync(['{src,test,bench,scripts,web}/**/*.{ts,tsx,mjs,sql,css}'], {
    cwd: root,
    exclude: ['**/node_modules', 'web/dist/**'],
  });
  return paths
    .sort()
    .filter((path) => !/\/(?:fixture|results)\//.test(path))
    .map((path) => readSource(path, readFileSync(join(root, path), 'utf8')));
}

function describeFinding({ path, line, offender, message, rule }: Finding): string {
  return `${path}:${line}: [${rule}] ${message}\n    ${offender}`;
}

function functionOf(lines: number): string {
  return `export function long(): void {\n${'  a();\n'.repeat(lines - 2)}}\n`;
}
