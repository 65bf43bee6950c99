/**
 * The measurements, as Markdown on stdout and as JSON in `bench/results/`. The engine is
 * measured side by side with its peers; the others against what is asked of them.
 *
 *   npm run bench -- [engine] [--runs N] [--quick] [--only 'pawl postgres']
 *   npm run bench -- search | manual | chunking | extraction | fidelity | pipeline | pgvector
 *     | api | services | control | load | hostile | sync [--quick] [--data DIR] [--seed N]
 *   npm run bench -- peers [--pages N] [--only WORDS]
 *   npm run bench -- crawl [--pages N] [--distance MS]
 *   npm run bench -- scale          no measurement: a model of what a million a day takes
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import { prepareMachine } from '../test/support/machine.ts';
import { parseOptions } from '../test/support/parse-options.ts';
import { benchCrawl } from './crawl.ts';
import { reportEngine } from './engine/report.ts';
import { runEngineSuite } from './engine/suite.ts';
import { isMet, reportSections } from './measure/figure.ts';
import { reportScale } from './scale/report.ts';
import { isSuite, runSuite, suites } from './suites.ts';

const results = fileURLToPath(new URL('./results/', import.meta.url));
const runsDefault = 3;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(130));
}
process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseOptions({
    allowPositionals: true,
    options: {
      runs: { type: 'string' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      pages: { type: 'string' },
      distance: { type: 'string', default: '25' },
      data: { type: 'string' },
      trafilatura: { type: 'string' },
      seed: { type: 'string', default: '1' },
    },
  });
  const tell = (line: string): void => console.error(line);
  const [suite = 'engine'] = positionals;
  if (suite === 'scale') {
    console.log(reportScale());
    return 0;
  }
  if (suite === 'crawl') {
    const [pages, distanceMs] = [Number(values.pages ?? 10_000), Number(values.distance)];
    return benchCrawl({ pages, distanceMs, tell });
  }
  if (isSuite(suite) && positionals.length === 1) return await measureSuite(suite, values);
  const runs = Number(values.runs ?? (values.quick ? 1 : runsDefault));
  const unknown = positionals.find((name) => name !== 'engine');
  if (unknown !== undefined || !Number.isInteger(runs) || runs < 1) {
    console.error(`usage: npm run bench -- [engine] [--runs N] [--quick] [--only WORDS]
       npm run bench -- crawl [--pages N] [--distance MS]
       npm run bench -- scale
       npm run bench -- ${suites.join(' | ')} [--data DIR] [--quick]
         [--seed N] [--only WORDS]`);
    return 64;
  }
  prepareMachine(tell);
  const startedAt = new Date().toISOString();
  const only = wordsIn(values.only);
  const result = await runEngineSuite({ runs, isQuick: values.quick, only, tell });
  const machine = describeMachine(result.postgres);
  const written = { startedAt, machine, runs, isQuick: values.quick, only, engine: result };
  mkdirSync(results, { recursive: true });
  writeFileSync(`${results}latest.json`, `${JSON.stringify(written, null, 2)}\n`);
  console.log(`# Pawl, its peers, and the bare stores\n\n${Object.values(machine).join(' · ')}`);
  console.log(`${values.quick ? 'Quick: too short to quote. ' : ''}Medians of ${runs}.\n`);
  console.log(reportEngine(result));
  return result.failures.some(({ isPeer }) => !isPeer) ? 1 : 0;
}

function wordsIn(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

interface SuiteFlags {
  readonly quick: boolean;
  readonly data?: string | undefined;
  readonly trafilatura?: string | undefined;
  readonly seed: string;
  readonly only: string;
  readonly pages?: string | undefined;
}

async function measureSuite(
  name: (typeof suites)[number],
  { quick: isQuick, data, trafilatura, seed, only, pages }: SuiteFlags,
): Promise<number> {
  const startedAt = new Date().toISOString();
  const tell = (line: string): void => console.error(line);
  if (name === 'services' || name === 'peers') prepareMachine(tell);
  const sections = await runSuite(name, {
    data,
    trafilatura,
    seed: Number(seed),
    only: wordsIn(only),
    pages: pages === undefined ? undefined : Number(pages),
    isQuick,
    tell,
  });
  if (sections.length === 0) return 0;
  const { postgres: _, ...machine } = describeMachine('');
  const load = `load ${loadavg()[0]?.toFixed(1)}`;
  mkdirSync(results, { recursive: true });
  const written = { startedAt, machine, load, isQuick, [name]: sections };
  writeFileSync(`${results}${name}.json`, `${JSON.stringify(written, null, 2)}\n`);
  console.log(`# Pawl: ${name}\n\n${[...Object.values(machine), load].join(' · ')}`);
  console.log(`${isQuick ? 'Quick: too short to quote.\n' : ''}\n${reportSections(sections)}`);
  return sections.every(({ figures }) => figures.every(isMet)) ? 0 : 1;
}

function describeMachine(postgres: string) {
  const [first] = cpus();
  return {
    processor: `${cpus().length} × ${first?.model.trim() ?? 'unknown'}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${type()} ${release()}`,
    node: `Node ${process.version}`,
    postgres: `Postgres ${postgres}`,
  };
}
