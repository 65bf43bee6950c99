/** The completion script for zsh: a function for `compsys`. */
import { type CompletedCommand, type CompletedFlag, globalFlags } from './completion-table.ts';

export function zshScript(commands: readonly CompletedCommand[]): string {
  const described = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`);
  return `#compdef pawl
# zsh completion for pawl, written by \`pawl completion zsh\`
_pawl_corpora() {
  local -a names
  names=("\${(@f)$(pawl completion corpora 2>/dev/null)}")
  names=("\${(@)names:#}")
  compadd -a names
}
_pawl() {
  local curcontext="$curcontext" state line
  local -a commands
  commands=(
${described.join('\n')}
  )
  _arguments -C -A '-*' \\
${globalFlags()
  .map((flag) => `    ${flagOf(flag)} \\`)
  .join('\n')}
    '1: :->command' \\
    '*:: :->rest' && return 0
  case $state in
    command) _describe -t commands 'command' commands ;;
    rest)
      case $line[1] in
${commands.map(caseOf).join('\n')}
      esac ;;
  esac
}
if [[ $funcstack[1] == _pawl ]]; then _pawl "$@"; else compdef _pawl pawl; fi
`;
}

function caseOf({ name, actions, corpusAt, takesFiles, flags }: CompletedCommand): string {
  const rest = takesFiles ? ["'*:file:_files'"] : ["'*:words:()'"];
  const first = actions.length > 0 ? [quoted(`1:action:(${actions.join(' ')})`)] : [];
  const corpus = corpusAt > 0 ? [`'${corpusAt}:corpus:_pawl_corpora'`] : [];
  const lines = [...flags.map(flagOf), ...first, ...corpus, ...rest];
  return `        ${name})
          _arguments \\
${lines.map((line) => `            ${line}`).join(' \\\n')} ;;`;
}

function flagOf({ name, short, meaning, value }: CompletedFlag): string {
  const text = `[${meaning.replaceAll(/[[\]\\:]/g, '\\$&')}]`;
  const after = value === undefined ? '' : `:${name}:${actionOf(value)}`;
  const long = quoted(`--${name}${value === undefined ? '' : '='}${text}${after}`);
  if (short === undefined) return long;
  const both = quoted(`(-${short} --${name})`);
  const forms = value === undefined ? `{-${short},--${name}}` : `{-${short}+,--${name}=}`;
  return `${both}${forms}${quoted(`${text}${after}`)}`;
}

function actionOf(value: NonNullable<CompletedFlag['value']>): string {
  if (value.kind === 'choice') return `(${value.choices.join(' ')})`;
  if (value.kind === 'corpus') return '_pawl_corpora';
  if (value.kind === 'folder') return '_files -/';
  return value.kind === 'file' ? '_files' : '()';
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
