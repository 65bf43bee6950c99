/** Prints `--help` from the same tables that parse the arguments. */
import { type Command, exitMeanings, globalOptions, type Option } from '../command.ts';
import type { Terminal } from './terminal.ts';
import { wrap } from './wording.ts';

export function printHelp(terminal: Terminal, commands: readonly Command[]): void {
  terminal.print('Pawl turns documents into a searchable corpus, one committed step at a time.');
  terminal.print();
  terminal.print(terminal.paint('bold', 'Commands'));
  const rows = commands.map(({ name, summary }) => [name, summary] as const);
  printColumns(terminal, rows);
  terminal.print();
  const { url, ...everywhere } = globalOptions;
  terminal.print(terminal.paint('bold', 'Options of every command'));
  printColumns(terminal, optionRows(everywhere));
  terminal.print();
  const local = commands.filter(({ isLocal }) => isLocal).map(({ name }) => name);
  terminal.print(terminal.paint('bold', `Options of every command except ${local.join(', ')}`));
  printColumns(terminal, optionRows({ ...(url && { url }) }));
  terminal.print();
  terminal.print(terminal.paint('bold', 'Exit codes'));
  printColumns(terminal, exitMeanings);
  terminal.print();
  terminal.print('Run `pawl help COMMAND` for one command. Start with `pawl serve`.');
}

export function printCommandHelp(terminal: Terminal, command: Command): void {
  terminal.print(`pawl ${command.name}: ${command.summary}`);
  terminal.print();
  terminal.print(terminal.paint('bold', 'Usage'));
  for (const line of command.usage) terminal.print(`  pawl ${line}`);
  terminal.print();
  terminal.print(terminal.paint('bold', 'Options'));
  const { url, ...everywhere } = globalOptions;
  const general = command.isLocal ? everywhere : globalOptions;
  printColumns(terminal, optionRows({ ...command.options, ...general }));
  if (!command.examples) return;
  terminal.print();
  terminal.print(terminal.paint('bold', 'Examples'));
  for (const example of command.examples) terminal.print(`  ${example}`);
}

function optionRows(options: Readonly<Record<string, Option>>): (readonly [string, string])[] {
  return Object.entries(options).map(([name, { short, value, meaning }]) => [
    `${short === undefined ? '    ' : `-${short}, `}--${name}${value ? ` ${value}` : ''}`,
    meaning,
  ]);
}

/** On a narrower terminal, descriptions are below the names. */
const besideMin = 24;

function printColumns(terminal: Terminal, rows: readonly (readonly [string, string])[]): void {
  const width = Math.max(...rows.map(([left]) => left.length));
  const beside = terminal.columns() - width - 4;
  const isNarrow = beside < besideMin;
  const indent = ' '.repeat(isNarrow ? 6 : width + 4);
  for (const [left, right] of rows) {
    const [first = '', ...rest] = wrap(right, isNarrow ? terminal.columns() - 6 : beside);
    if (isNarrow) terminal.print(`  ${left}\n${indent}${first}`);
    else terminal.print(`  ${left.padEnd(width)}  ${first}`);
    for (const line of rest) terminal.print(`${indent}${line}`);
  }
}
