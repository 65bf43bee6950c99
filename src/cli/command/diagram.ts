/** `pawl diagram`: a lifecycle as a Mermaid diagram. */
import { type MachineName, machines, mermaid } from '../../kernel/lifecycle/diagram.ts';
import { answer, type Command, usageError } from '../command.ts';

const names = Object.keys(machines) as MachineName[];

export const diagram: Command = {
  name: 'diagram',
  summary: 'print a lifecycle as a Mermaid diagram',
  isLocal: true,
  usage: [`diagram [${names.join('|')}]`],
  run: async (call) => {
    const [name = 'item'] = call.positionals;
    const known = names.find((candidate) => candidate === name);
    if (!known) {
      throw usageError(`there is no lifecycle ${name}`, `Use one of ${names.join(', ')}.`);
    }
    const text = mermaid(machines[known]);
    return answer(call, { name, mermaid: text }, text.trimEnd());
  },
};
