/** The manual page `pawl(1)`, from the tables that the help is printed from. */
import { type Command, exitMeanings, globalOptions, type Option } from '../src/cli/command.ts';

export function manPage(commands: readonly Command[], version: string): string {
  return [
    `.TH PAWL 1 "" "Pawl ${version}" "User Commands"`,
    '.SH NAME',
    'pawl \\- documents to search, one committed step at a time',
    '.SH SYNOPSIS',
    '.B pawl',
    `${plain('COMMAND [ARGUMENTS] [OPTIONS]')}`,
    '.SH OPTIONS OF EVERY COMMAND',
    ...optionLines(globalOptions),
    '.SH COMMANDS',
    ...commands.flatMap(commandLines),
    '.SH EXIT STATUS',
    ...exitMeanings.flatMap(([code, meaning]) => ['.TP', `.B ${code}`, plain(meaning)]),
    '.SH FILES',
    ...[
      '.TP',
      '.I .pawl',
      'The folder of the store, unless \\-\\-data or PAWL_DATA names another.',
    ],
    ...['.TP', '.I .env', 'Variables PAWL_\\[u2026] of this folder. The environment wins.'],
    '.SH SEE ALSO',
    '.B pawl config show',
    'prints every setting, its value, and where the value comes from.',
    '',
  ].join('\n');
}

function commandLines({ name, summary, usage, options = {}, examples = [] }: Command): string[] {
  return [
    `.SS ${plain(`pawl ${name}`)}`,
    plain(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`),
    '.PP',
    '.nf',
    ...usage.map((line) => `.B ${plain(`pawl ${line}`)}`),
    '.fi',
    ...optionLines(options),
    ...(examples.length === 0
      ? []
      : ['.PP', 'Examples:', '.PP', '.nf', ...examples.map(plain), '.fi']),
  ];
}

function optionLines(options: Readonly<Record<string, Option>>): string[] {
  return Object.entries(options).flatMap(([name, { short, value, meaning }]) => {
    const names = [...(short === undefined ? [] : [`-${short}`]), `--${name}`];
    const shown = `\\fB${names.map(plain).join('\\fR, \\fB')}\\fR`;
    return [
      '.TP',
      value === undefined ? shown : `${shown} \\fI${plain(value)}\\fR`,
      plain(meaning),
    ];
  });
}

/** Text that roff must print as it is, in any encoding. */
function plain(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll("'", '\\(aq')
    .replace(/[^ -~]/gu, (sign) => `\\[u${hex(sign)}]`);
  return escaped.startsWith('.') ? `\\&${escaped}` : escaped;
}

function hex(sign: string): string {
  return (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}
