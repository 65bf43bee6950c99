/** `pawl completion`: completion scripts for shells, written from the table of commands. */
import { answer, type Call, type Command, exits, usageError, withStore } from '../../command.ts';
import { loadAll } from '../../commands.ts';
import { entriesOf } from '../../pawl-client.ts';
import { bashScript } from './bash-completion.ts';
import { completionTable } from './completion-table.ts';
import { fishScript } from './fish-completion.ts';
import { zshScript } from './zsh-completion.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
const shells = Object.keys(scripts) as (keyof typeof scripts)[];

export const completion: Command = {
  name: 'completion',
  summary: 'print a completion script for bash, zsh or fish',
  usage: ['completion bash|zsh|fish', 'completion corpora'],
  isLocal: true,
  examples: [
    'source <(pawl completion bash)',
    'pawl completion zsh > "${fpath[1]}/_pawl"',
    'pawl completion fish > ~/.config/fish/completions/pawl.fish',
  ],
  run: async (call) => {
    const [name, ...others] = call.positionals;
    if (name === 'corpora' && others.length === 0) return printCorpora(call);
    const shell = shells.find((known) => known === name);
    if (!shell || others.length > 0) {
      const given = name === undefined ? 'name the shell' : `there is no completion for ${name}`;
      throw usageError(given, `Use \`pawl completion ${shells.join('|')}\`.`);
    }
    const script = scripts[shell](completionTable(await loadAll()));
    return answer(call, { shell, script }, () => call.terminal.print(script.trimEnd()));
  },
};

/** For the scripts: one name on each line. */
function printCorpora(call: Call): Promise<number> {
  return withStore(call, async ({ ask }) => {
    const corpora = entriesOf((query) => ask('GET /corpora', { query }));
    for await (const { name } of corpora) call.terminal.print(name);
    return exits.well;
  });
}
