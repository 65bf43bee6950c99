/** The plans as Markdown, for the terminal and for `docs/guide/scale.md`. */
import type { Need } from './model.ts';
import { machine, type Plan, planOf, type Storage, scenarios } from './scenario.ts';

export function reportScale(): string {
  return scenarios.map((scenario) => reportPlan(planOf(scenario))).join('\n\n');
}

function reportPlan(plan: Plan): string {
  const { scenario, ratePeak, needs, bottleneck, outage, storage, other } = plan;
  const cores = needs.reduce((sum, need) => sum + need.cores, 0);
  const { name } = bottleneck;
  const end = Math.round(bottleneck.machineRateMax).toLocaleString('en');
  const backlog = outage.backlogMax.toLocaleString('en');
  return [
    `### ${scenario.name}`,
    '',
    `${scenario.note} ${ratePeak.toFixed(1)} documents a second at the peak.`,
    '',
    '| part | ms a document | cores at the peak | load | waits, ms | one machine ends at |',
    '| --- | --: | --: | --: | --: | --: |',
    ...needs.map(rowOf),
    '',
    `Processor time; \\*: some of it is assumed. Together ${cores} cores, of machines with`,
    `${machine.cores}. The first that is too small is that of **${name}**, at ${end} documents`,
    `a second. If embedding is away for the two hours after noon, ${backlog} documents wait, and`,
    `the last of them is done ${afterText(outage.emptyAtHour)}.`,
    '',
    '| kept | bytes a document | in all | machines |',
    '| --- | --: | --: | --: |',
    ...storage.map(storageRow),
    '',
    '| besides | |',
    '| --- | --: |',
    ...other.map(([what, figure]) => `| ${what} | ${figure} |`),
  ].join('\n');
}

function rowOf({ name, evidence, cores, load, waitMs, ...need }: Need): string {
  const { millisPerDocument, machineRateMax } = need;
  const star = evidence === 'assumed' ? '\\*' : '';
  const figures = [
    `${millisPerDocument.toFixed(2)}${star}`,
    cores,
    `${(load * 100).toFixed(0)} %`,
    waitMs.toFixed(2),
    `${Math.round(machineRateMax).toLocaleString('en')}/s`,
  ];
  return `| ${name} | ${figures.join(' | ')} |`;
}

function storageRow({ what, bytesPerDocument, bytes, machines }: Storage): string {
  const each = Math.round(bytesPerDocument).toLocaleString('en');
  return `| ${[what, each, sizeText(bytes), machines ?? ''].join(' | ')} |`;
}

function afterText(hour: number): string {
  const after = Math.round((hour - 14) * 60);
  return after <= 0 ? 'at once' : `${after} minutes after it is back`;
}

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

export function sizeText(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  return `${(bytes / 1000 ** step).toFixed(1)} ${units[step]}`;
}
