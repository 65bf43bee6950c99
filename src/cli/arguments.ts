/**
 * Parses the arguments of `pawl`. Flags may stand before or after the command, and have the same
 * form in every command, so that the command can be found among them.
 */
import { parseArgs } from 'node:util';
import { nearOf } from '../kernel/text/closest-name.ts';
import { type Command, type Flags, globalOptions, type Option, usageError } from './command.ts';

export type Options = Readonly<Record<string, Option>>;

/** Splits the arguments into the command and the rest. Without a command, `name` is undefined. */
export async function splitCommand(
  args: readonly string[],
  loadOptions: () => Promise<Options>,
): Promise<{ readonly name: string | undefined; readonly rest: readonly string[] }> {
  let options = globalOptions;
  let split = firstPositional(args, options);
  if (split.isUnsure) {
    options = { ...globalOptions, ...(await loadOptions()) };
    split = firstPositional(args, options);
  }
  const { at } = split;
  if (at === undefined) return { name: undefined, rest: args };
  return { name: args[at], rest: args.filter((_, index) => index !== at) };
}

/** `isUnsure` if a flag before the command is unknown: it may take the next word as its value. */
function firstPositional(
  args: readonly string[],
  options: Options,
): { readonly at: number | undefined; readonly isUnsure: boolean } {
  let isUnsure = false;
  for (const token of tokensOf(args, options)) {
    if (token.kind === 'positional') return { at: token.index, isUnsure };
    if (token.kind === 'option' && !Object.hasOwn(options, token.name)) isUnsure = true;
  }
  return { at: undefined, isUnsure };
}

export function readArguments(
  command: Pick<Command, 'name' | 'options'>,
  args: readonly string[],
): { readonly flags: Flags; readonly positionals: string[] } {
  const known: Options = { ...command.options, ...globalOptions };
  const flags: Record<string, string | boolean | readonly string[]> = {};
  const positionals: string[] = [];
  for (const token of tokensOf(args, known)) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue: isInline } = token;
    const option = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!option) throw unknownFlag(command.name, rawName, Object.keys(known));
    const read = givenValue(option, { rawName, value, isInline });
    flags[name] = option.multiple ? [...((flags[name] as string[]) ?? []), String(read)] : read;
  }
  return { flags, positionals };
}

interface Given {
  readonly rawName: string;
  readonly value: string | undefined;
  readonly isInline: boolean | undefined;
}

function givenValue(option: Option, { rawName, value, isInline }: Given): string | boolean {
  if (option.type === 'boolean') {
    if (value === undefined) return true;
    throw usageError(`${rawName} takes no value`, `Write ${rawName} alone.`);
  }
  const form = `${rawName} ${option.value ?? 'VALUE'}`;
  if (value === undefined) throw usageError(`${rawName} needs a value`, `Write ${form}.`);
  if (!isInline && /^-./.test(value)) {
    const how = `Write ${form}; a value that starts with a dash as ${rawName}=${value}.`;
    throw usageError(`${rawName} needs a value, and ${value} looks like a flag`, how);
  }
  if (!option.choices || option.choices.includes(value)) return value;
  const near = nearOf(value, option.choices);
  const choices = `Use ${rawName} ${listed(option.choices)}.`;
  throw usageError(
    `${rawName} cannot be ${value}${near === undefined ? '' : `; did you mean ${near}?`}`,
    choices,
  );
}

/** `a, b or c`. */
export function listed(words: readonly string[]): string {
  const [last = '', ...others] = words.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} or ${last}`;
}

function unknownFlag(command: string, rawName: string, known: readonly string[]) {
  const near = nearOf(rawName.replace(/^-+/, ''), known);
  const meant = near === undefined || near.length === 1 ? '' : `; did you mean --${near}?`;
  const call = command === '' ? 'pawl' : `pawl ${command}`;
  const how = `\`${call} --help\` lists its flags.`;
  return usageError(`${call} has no ${rawName}${meant}`, how);
}

function tokensOf(args: readonly string[], options: Options) {
  const forms = Object.entries(options).map(([name, { type, short }]) => [
    name,
    { type, ...(short !== undefined && { short }) },
  ]);
  const { tokens } = parseArgs({
    args: args.map((word) => (word === '-V' ? '-v' : word)),
    options: Object.fromEntries(forms),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  return tokens;
}
