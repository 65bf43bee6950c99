/**
 * The side-by-side measurements, as Markdown on stdout and as JSON in `bench/results/latest.json`.
 *
 *   npm run bench -- [engine] [--runs N] [--quick] [--only 'pawl postgres']
 *   npm run bench -- crawl [--pages N] [--distance MS]
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { prepareMachine } from '../test/support/machine.ts';
import { benchCrawl } from './crawl.ts';
import { reportEngine } from './engine/report.ts';
import { runEngineSuite } from './engine/suite.ts';

const results = fileURLToPath(new URL('./results/', import.meta.url));
const runsDefault = 3;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(130));
}
process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      runs: { type: 'string' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      pages: { type: 'string', default: '10000' },
      distance: { type: 'string', default: '25' },
    },
  });
  const tell = (line: string): void => console.error(line);
  if (positionals[0] === 'crawl') {
    const [pages, distanceMs] = [Number(values.pages), Number(values.distance)];
    return benchCrawl({ pages, distanceMs, tell });
  }
  const runs = Number(values.runs ?? (values.quick ? 1 : runsDefault));
  const unknown = positionals.find((name) => name !== 'engine');
  if (unknown !== undefined || !Number.isInteger(runs) || runs < 1) {
    console.error('usage: npm run bench -- [engine | crawl] [--runs N] [--quick] [--only WORDS]');
    return 64;
  }
  prepareMachine(tell);
  const startedAt = new Date().toISOString();
  const only = values.only.split(/\s+/).filter((word) => word !== '');
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
