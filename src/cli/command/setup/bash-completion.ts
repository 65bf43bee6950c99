/** The completion script for bash. It uses only what bash itself has. */
import type { CompletedCommand, FlagValue } from './completion-table.ts';

export function bashScript(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  return `# bash completion for pawl, written by \`pawl completion bash\`
# One name on each line, so that names with spaces, \`*\` or \`$\` stay whole and as they are.
_pawl_files() {
  local name
  while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen "$1" -- "$2")
}
_pawl_corpora() {
  local name
  while IFS= read -r name; do
    if [[ $name == "$word"* ]]; then COMPREPLY+=("$name"); fi
  done < <(pawl completion corpora "\${store[@]}" 2>/dev/null)
}
_pawl() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  local command="" action="" index flag
  local -a store=()
  COMPREPLY=()
  # bash splits --flag=value into three words.
  if [[ $word == = ]]; then word=""
  elif [[ $before == = ]]; then before="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${COMP_WORDS[index]}" in
      ${valueFlags(commands)})
        flag="\${COMP_WORDS[index]}"
        ((index++)); [[ \${COMP_WORDS[index]} == = ]] && ((index++))
        case "$flag" in
          --data|-d|--env-file|--url|-u) store+=("$flag" "\${COMP_WORDS[index]}") ;;
        esac ;;
      -*|=) ;;
      *)
        if [[ -z $command ]]; then command="\${COMP_WORDS[index]}"
        elif [[ -z $action ]]; then action="\${COMP_WORDS[index]}"
        fi ;;
    esac
  done
  if [[ -z $command ]]; then
    case "$word" in
      -*) COMPREPLY=($(compgen -W "--help --version" -- "$word")) ;;
      *) COMPREPLY=($(compgen -W "${names}" -- "$word")) ;;
    esac
    return
  fi
  case "$command" in
${commands.map(caseOf).join('\n')}
  esac
}
complete -o filenames -F _pawl pawl
`;
}

/** Every flag that takes a value, so that the value is not mistaken for a command. */
function valueFlags(commands: readonly CompletedCommand[]): string {
  const flags = commands.flatMap((command) => command.flags.filter(({ value }) => value));
  const names = flags.flatMap(({ name, short }) => [`--${name}`, ...(short ? [`-${short}`] : [])]);
  return [...new Set(names)].join('|');
}

function caseOf({ name, actions, corpusAt, takesFiles, flags }: CompletedCommand): string {
  const values = flags.flatMap(({ name: flag, short, value }) => {
    if (!value) return [];
    const forms = short ? `--${flag}|-${short}` : `--${flag}`;
    return [`        ${forms}) ${replyOf(value)} return ;;`];
  });
  const words = flags.map(({ name: flag }) => `--${flag}`).join(' ');
  const files = '_pawl_files -f "$word"';
  const first = `COMPREPLY=($(compgen -W "${actions.join(' ')}" -- "$word"))`;
  const rest = takesFiles ? files : ':';
  const second = corpusAt === 2 ? '_pawl_corpora' : rest;
  const named = corpusAt === 1 ? `if [[ -z $action ]]; then _pawl_corpora; else ${rest}; fi` : rest;
  const positional =
    actions.length === 0 ? named : `if [[ -z $action ]]; then ${first}; else ${second}; fi`;
  return `    ${name})
      case "$before" in
${values.join('\n')}
      esac
      case "$word" in
        -*) COMPREPLY=($(compgen -W "${words}" -- "$word")) ;;
        *) ${positional} ;;
      esac ;;`;
}

function replyOf(value: FlagValue): string {
  if (value.kind === 'choice') {
    return `COMPREPLY=($(compgen -W "${value.choices.join(' ')}" -- "$word"));`;
  }
  if (value.kind === 'corpus') return '_pawl_corpora;';
  if (value.kind === 'folder') return '_pawl_files -d "$word";';
  return value.kind === 'file' ? '_pawl_files -f "$word";' : '';
}
