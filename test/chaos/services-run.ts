/** `npm run chaos -- services`: breaks servers and services under load, and counts the losses. */

import { prepareMachine } from '../support/machine.ts';
import { parseOptions } from '../support/parse-options.ts';
import { mixSettings } from './mixed-settings.ts';
import { breakServices } from './services.ts';

const counts = {
  restarts: '100',
  flushes: '50',
  kills: '50',
  'process-kills': '20',
  documents: '60',
  workers: '2',
  'mixed-kills': '20',
  seed: String(Math.floor(Math.random() * 1e6)),
} as const;

export async function runServices(args: readonly string[]): Promise<number> {
  const options = Object.entries(counts).map(([name, initial]) => [
    name,
    { type: 'string', default: initial } as const,
  ]);
  const { values } = parseOptions({ args: [...args], options: Object.fromEntries(options) });
  const given = values as Readonly<Record<string, string>>;
  const numberOf = (name: keyof typeof counts): number => Number(given[name]);
  const chosen = {
    restarts: numberOf('restarts'),
    flushes: numberOf('flushes'),
    kills: numberOf('kills'),
    processKills: numberOf('process-kills'),
    documents: numberOf('documents'),
    workers: numberOf('workers'),
    mixedKills: numberOf('mixed-kills'),
    seed: numberOf('seed'),
  };
  if (!Object.values(chosen).every((value) => Number.isInteger(value) && value >= 0)) {
    console.error(`use: npm run chaos -- services [--${Object.keys(counts).join(' N --')} N]`);
    return 64;
  }
  prepareMachine(console.log);
  const { restarts, flushes, kills, processKills, seed } = chosen;
  console.log(`seed ${seed}`);
  const verdict = await breakServices({ ...chosen, tell: console.log });
  const { jobs, documents, lost, duplicated, stuck, failed, readAgain, seconds } = verdict;
  console.log(
    `${documents} documents of ${jobs} jobs in ${seconds} s, ${readAgain} pages read again`,
  );
  const faults = `${restarts} restarts of Postgres, ${flushes} flushes and ${kills} kills of Redis`;
  console.log(`${faults}, ${processKills} kills of services:`);
  console.log(`${lost} lost, ${duplicated} duplicated, ${stuck} stuck, ${failed} failed`);
  for (const reason of verdict.reasons) console.log(reason);
  const isMixedWell = await runMixed(chosen);
  return lost + duplicated + stuck + failed === 0 && isMixedWell ? 0 : 1;
}

async function runMixed(chosen: {
  readonly mixedKills: number;
  readonly documents: number;
  readonly seed: number;
}): Promise<boolean> {
  const { mixedKills: kills, seed } = chosen;
  const verdict = await mixSettings({ kills, documents: 2 * chosen.documents, seed });
  const { documents, paid, paidTwice, lost, duplicated, stuck, failed } = verdict;
  console.log(
    `different settings, ${kills} kills, ${documents} documents, ${paid} texts paid: ` +
      `${paidTwice} paid twice, ${lost} lost, ${duplicated} duplicated, ${stuck} stuck, ` +
      `${failed} failed`,
  );
  for (const reason of verdict.reasons) console.log(reason);
  return paidTwice + lost + duplicated + stuck + failed === 0;
}
