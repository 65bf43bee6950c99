/**
 * Runs Pawl's suites against real servers and testers of others, which it installs, and writes the
 * result into docs/verified.md. `npm run verify -- NAME…` runs those whose name contains one.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { killTestFiles, runTestFile } from '../support/test-file.ts';
import { apiTarget } from './api.ts';
import { mcpTarget } from './mcp.ts';
import { neo4jTarget } from './neo4j.ts';
import { qdrantTarget } from './qdrant.ts';
import { type Row, writeRows } from './report.ts';
import { s3Targets } from './s3.ts';
import type { Outcome, Suite, Target } from './target.ts';

const targets: readonly Target[] = [...s3Targets, neo4jTarget, qdrantTarget, apiTarget, mcpTarget];

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(130));
}
process.once('exit', killTestFiles);
process.exitCode = await main(process.argv.slice(2));

async function main(names: readonly string[]): Promise<number> {
  const isMeant = ({ name }: Target) =>
    names.length === 0 || names.some((each) => name.toLowerCase().includes(each.toLowerCase()));
  const meant = targets.filter(isMeant);
  if (meant.length === 0) {
    console.error(`No target matches. There are: ${targets.map(({ name }) => name).join(', ')}`);
    return 64;
  }
  const rows: Row[] = [];
  for (const target of meant) rows.push(...(await verify(target)));
  writeRows(
    rows,
    execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
  );
  return rows.every(({ failed }) => failed === 0) ? 0 : 1;
}

async function verify(target: Target): Promise<Row[]> {
  const releases: (() => void | Promise<void>)[] = [];
  const { name, version } = target;
  console.log(`${name} ${version}`);
  try {
    const { environment, suites } = await target.start({ after: (each) => releases.push(each) });
    Object.assign(process.env, environment);
    const rows: Row[] = [];
    for (const suite of suites) {
      const outcome = await outcomeOf(suite);
      console.log(`  ${suite.name}: ${outcome.passed} passed, ${outcome.failed} failed`);
      if (outcome.detail !== undefined) console.log(outcome.detail);
      rows.push({ name, version, suite: suite.name, note: suite.note, ...outcome });
    }
    for (const key of Object.keys(environment)) delete process.env[key];
    return rows;
  } finally {
    for (const release of releases.toReversed()) await release();
  }
}

async function outcomeOf({ run }: Suite): Promise<Outcome> {
  if (typeof run !== 'string') return run();
  const { passed, failures } = await runTestFile(run);
  const details = failures.map(({ name, detail }) => `${name}\n${detail}`);
  const detail = details.length > 0 ? { detail: details.join('\n') } : {};
  return { passed, failed: failures.length, ...detail };
}
