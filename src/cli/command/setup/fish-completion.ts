/** The completion script for fish: one `complete` for each command, action, flag and value. */
import type { CompletedCommand, CompletedFlag } from './completion-table.ts';

export function fishScript(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  const isFree = `not __fish_seen_subcommand_from ${names}`;
  const lines = commands.flatMap((command) => [
    `complete -c pawl -n "${isFree}" -a ${command.name} -d ${quoted(command.summary)}`,
    ...linesOf(command),
  ]);
  return `# fish completion for pawl, written by \`pawl completion fish\`
complete -c pawl -f
complete -c pawl -n "${isFree}" -s h -l help -d 'show the commands'
complete -c pawl -n "${isFree}" -s v -l version -d 'print the version'
${lines.join('\n')}
`;
}

function linesOf({ name, actions, corpusAt, takesFiles, flags }: CompletedCommand): string[] {
  const seen = `__fish_seen_subcommand_from ${name}`;
  const words = actions.join(' ');
  const isFirst = `${seen}; and not __fish_seen_subcommand_from ${words}`;
  // \`pawl help jobs\` names another command, which is not a second command.
  const action = name === 'help' ? seen : isFirst;
  return [
    ...(actions.length > 0 ? [`complete -c pawl -n "${action}" -a ${quoted(words)}`] : []),
    ...(corpusAt > 0 ? [corporaLine(seen, corpusAt === 2 ? words : '')] : []),
    ...(takesFiles ? [`complete -c pawl -n "${seen}" -F`] : []),
    ...flags.map((flag) => flagOf(seen, flag)),
  ];
}

const corpora = "'(pawl completion corpora 2>/dev/null)'";

/** After one of the actions, if there are any. */
function corporaLine(seen: string, actions: string): string {
  const after = actions === '' ? '' : `; and __fish_seen_subcommand_from ${actions}`;
  return `complete -c pawl -n "${seen}${after}" -a ${corpora}`;
}

function flagOf(seen: string, { name, short, meaning, value }: CompletedFlag): string {
  const letter = short === undefined ? '' : ` -s ${short}`;
  const named = `complete -c pawl -n "${seen}"${letter} -l ${name}`;
  return `${named} -d ${quoted(meaning)}${valuePart(value)}`;
}

function valuePart(value: CompletedFlag['value']): string {
  if (value === undefined) return '';
  if (value.kind === 'choice') return ` -x -a ${quoted(value.choices.join(' '))}`;
  if (value.kind === 'corpus') return ` -x -a ${corpora}`;
  if (value.kind === 'folder') return " -x -a '(__fish_complete_directories)'";
  return value.kind === 'file' ? ' -r -F' : ' -x';
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}
