/**
 * `npm run chaos [-- --kills N --store sqlite|postgres|both --seed S --workers N --only SECTION]`:
 * kills at random and at every failpoint, zombies, power cuts; then counts what was lost. The last
 * line gives the result, and the exit code is 1 unless nothing was lost. `npm run chaos -- services
 * [--restarts N --flushes N --kills N --process-kills N --seed S]`: the same for four services on
 * Postgres and three Redis. `npm run chaos -- sync`: kills processes that follow sources.
 */

import { compiled } from '../support/compiled.ts';
import { prepareMachine } from '../support/machine.ts';
import { parseOptions } from '../support/parse-options.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import { powerSection, type Section, type SectionOptions, sectionsOfStore } from './section.ts';
import { runServices } from './services-run.ts';
import { runSync } from './sync-run.ts';
import { type Fault, faults } from './verdict.ts';

const sectionNames = [...Object.keys(sectionsOfStore), 'power'];
// Hundreds of short-lived processes load the same modules: they are compiled once.
process.env.NODE_COMPILE_CACHE ??= compiled;
// An exit also ends the children, even stopped ones; a bare signal would not.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(130));
}
process.exitCode = await main();

async function main(): Promise<number> {
  if (process.argv[2] === 'services') return runServices(process.argv.slice(3));
  if (process.argv[2] === 'sync') return runSync(process.argv.slice(3));
  const options = readOptions();
  if (!options) {
    console.error('use: npm run chaos -- [--kills N] [--store sqlite|postgres|both] [--seed S]');
    console.error(`     [--only ${sectionNames.join('|')}]`);
    return 64;
  }
  prepareMachine(console.log);
  console.log(`seed ${options.seed}\n`);
  console.log(row('', faults, ''));
  const postgres = options.stores.includes('postgres') ? await startPostgres() : undefined;
  const sections = await runAll(options, postgres).finally(() => postgres?.stop());
  return printVerdict(options.kills, sections);
}

interface Options extends Omit<SectionOptions, 'server'> {
  readonly stores: readonly string[];
  /** The name of one section; all of them if absent. */
  readonly only: string | undefined;
}

function readOptions(): Options | undefined {
  const { values } = parseOptions({
    options: {
      kills: { type: 'string', default: '500' },
      store: { type: 'string', default: 'both' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
      workers: { type: 'string', default: '3' },
      only: { type: 'string' },
    },
  });
  const { only } = values;
  if (only !== undefined && !sectionNames.includes(only)) return undefined;
  const [kills, seed, workers] = [values.kills, values.seed, values.workers].map(Number);
  const stores = values.store === 'both' ? ['sqlite', 'postgres'] : [values.store];
  const isStore = stores.every((store) => store === 'sqlite' || store === 'postgres');
  if (!kills || !workers || seed === undefined || Number.isNaN(seed) || !isStore) return undefined;
  return { kills, seed, workers, stores, only };
}

async function runAll(
  { stores, only, ...options }: Options,
  postgres: Postgres | undefined,
): Promise<Section[]> {
  const sections: Section[] = [];
  const show = (section: Section): void => {
    sections.push(section);
    const counts = faults.map((fault) => String(countOf([section], fault)));
    console.log(row(section.name, counts, section.remark));
    for (const { fault, what } of section.findings) console.log(`  ${fault}: ${what}`);
    for (const problem of section.problems) console.log(`  problem: ${problem}`);
    for (const told of section.told ?? []) console.log(`  told: ${told}`);
  };
  const isWanted = (name: string): boolean => only === undefined || only === name;
  const kills = Math.ceil(options.kills / stores.length);
  for (const store of stores) {
    const server = store === 'postgres' ? postgres : undefined;
    for (const [name, run] of Object.entries(sectionsOfStore)) {
      if (!isWanted(name)) continue;
      show(await run({ ...options, kills, server }).catch((error) => brokenSection(store, error)));
    }
  }
  if (stores.includes('sqlite') && isWanted('power')) show(await powerSection(options.seed));
  return sections;
}

/** A section that could not be completed. */
function brokenSection(store: string, error: unknown): Section {
  return { name: `aborted on ${store}`, findings: [], problems: [String(error)], remark: '' };
}

function row(name: string, cells: readonly string[], remark: string): string {
  return [name.padEnd(32), ...cells.map((cell) => cell.padStart(15)), `   ${remark}`].join('');
}

function countOf(sections: readonly Section[], fault: Fault): number {
  return sections.flatMap(({ findings }) => findings).filter((found) => found.fault === fault)
    .length;
}

function printVerdict(kills: number, sections: readonly Section[]): number {
  const findings = sections.flatMap((section) => section.findings);
  const shown = ['lost', 'duplicated', 'stuck', 'paid twice', 'blamed'] as const;
  const counts = shown.map((fault) => `${countOf(sections, fault)} ${fault}`);
  const others = findings.length - shown.reduce((sum, fault) => sum + countOf(sections, fault), 0);
  const problems = sections.reduce((sum, section) => sum + section.problems.length, others);
  const rest = problems > 0 ? `, and ${problems} other problems` : '';
  console.log(`\n${kills} kills: ${counts.join(', ')}${rest}`);
  return findings.length + problems === 0 ? 0 : 1;
}
