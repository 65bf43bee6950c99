/** What can be completed: commands, their actions, their flags, and the values of flags. */
import { type Command, globalOptions, type Option } from '../../command.ts';

export interface CompletedFlag {
  readonly name: string;
  readonly short: string | undefined;
  readonly meaning: string;
  /** Undefined: the flag takes no value. */
  readonly value: FlagValue | undefined;
}

export type FlagValue =
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'file' | 'folder' | 'corpus' | 'text' };

export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  /** The words that may follow the command: its actions, or the values of its argument. */
  readonly actions: readonly string[];
  /** Which argument is the name of a corpus: 1 or 2, or 0 for none. */
  readonly corpusAt: number;
  /** Its arguments are files. */
  readonly takesFiles: boolean;
  readonly flags: readonly CompletedFlag[];
}

export function completionTable(commands: readonly Command[]): CompletedCommand[] {
  const own = commands.map((command) => ({
    name: command.name,
    summary: command.summary,
    actions: actionsOf(command.usage),
    corpusAt: Math.max(0, ...command.usage.map(corpusIn)),
    takesFiles: command.usage.some((line) => /\b(?:SOURCE|FILE|DIR)\b/.test(line)),
    flags: flagsOf(command),
  }));
  const names = own.map(({ name }) => name);
  const help = { name: 'help', summary: 'show what a command takes', actions: names };
  return [...own, { ...help, corpusAt: 0, takesFiles: false, flags: [] }];
}

/** `jobs [list] …` and `jobs show|pause ID` have the actions list, show and pause. */
function actionsOf(usage: readonly string[]): string[] {
  const words = usage.map((line) => (line.split(' ')[1] ?? '').replace(/^\[(.*)\]$/, '$1'));
  const actions = words.filter((word) => /^[a-z-]+(?:\|[a-z-]+)*$/.test(word));
  return [...new Set(actions.flatMap((word) => word.split('|')))];
}

/** `corpora show CORPUS` has it as the second word after the command. */
function corpusIn(line: string): number {
  return line.split(' ').findIndex((word) => /^CORPUS\b/.test(word));
}

function flagsOf({ options, isLocal }: Command): CompletedFlag[] {
  const { url, ...everywhere } = globalOptions;
  return listed({ ...options, ...everywhere, ...(!isLocal && url && { url }) });
}

/** The flags that may stand before the command. */
export function globalFlags(): CompletedFlag[] {
  return listed(globalOptions);
}

function listed(options: Readonly<Record<string, Option>>): CompletedFlag[] {
  return Object.entries(options).map(([name, option]) => ({
    name,
    short: option.short,
    meaning: option.meaning,
    value: option.type === 'boolean' ? undefined : valueOfFlag(name, option),
  }));
}

function valueOfFlag(name: string, { value, choices }: Option): FlagValue {
  if (name === 'corpus') return { kind: 'corpus' };
  if (choices) return { kind: 'choice', choices };
  if (value === 'DIR') return { kind: 'folder' };
  return { kind: value === 'FILE' ? 'file' : 'text' };
}
