/** Commands with subcommands, such as `pawl jobs pause`: a table from word to action. */
import { nearOf } from '../kernel/text/closest-name.ts';
import type { Call } from './command.ts';
import { usageError } from './command.ts';

/** Receives the arguments after its own word. */
export type Action = (call: Call, args: readonly string[]) => Promise<number>;

export function chooseAction(
  name: string,
  actions: Readonly<Record<string, Action>>,
  standard = 'list',
): (call: Call) => Promise<number> {
  return (call) => {
    const [word = standard, ...args] = call.positionals;
    const action = Object.hasOwn(actions, word) ? actions[word] : undefined;
    if (action) return action(call, args);
    const words = Object.keys(actions);
    const near = nearOf(word, words);
    const meant = near === undefined ? '' : `; did you mean ${near}?`;
    const how = `Use ${words.length === 1 ? '' : 'one of '}${words.join(', ')}.`;
    throw usageError(`pawl ${name} has no ${word}${meant}`, how);
  };
}

/** The one argument that an action requires. */
export function onlyArgument(args: readonly string[], what: string): string {
  const [argument, ...others] = args;
  if (argument === undefined) throw usageError(`name the ${what}`);
  if (others.length > 0) throw usageError(`name one ${what}, not ${args.length}`);
  return argument;
}
