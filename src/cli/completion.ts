import type { CommandFlags } from './command.ts';
import { problem } from './problems.ts';

/** Shell completion, generated from the command tables: a new command or flag is completed without a change here. */

export interface CompletedCommand {
  readonly name: string;
  readonly actions?: readonly string[] | undefined;
  readonly flags: CommandFlags;
}

type Format = (commands: readonly CompletedCommand[]) => string;

const listFlags = ({ flags }: CompletedCommand) => Object.entries(flags);
const listWords = (command: CompletedCommand) => [
  ...(command.actions ?? []),
  ...listFlags(command).map(([flag]) => `--${flag}`),
];
const listChoices = (command: CompletedCommand) =>
  listFlags(command).flatMap(([flag, { choices, short }]) =>
    choices ? [{ names: [`--${flag}`, ...(short ? [`-${short}`] : [])], choices }] : [],
  );

const toBash: Format = commands => `# bash completion for gw
_gw() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} words=
  if ((COMP_CWORD == 1)); then
    words='${commands.map(({ name }) => name).join(' ')} --help --version'
  else
    case \${COMP_WORDS[1]} in
${commands.map(command => toCase(command, words => `words='${words}'`)).join('')}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _gw gw
`;

/** Case of one command: the values of a flag that has a list of them, else actions and flags. */
function toCase(command: CompletedCommand, assign: (words: string) => string): string {
  const choices = listChoices(command).map(
    ({ names, choices: values }) => `          ${names.join('|')}) ${assign(values.join(' '))} ;;\n`,
  );
  return `      ${command.name})
        case $previous in
${choices.join('')}          *) ${assign(listWords(command).join(' '))} ;;
        esac ;;
`;
}

const toZsh: Format = commands => `#compdef gw
# zsh completion for gw
_gw() {
  local previous=\${words[CURRENT-1]}
  local -a candidates
  if (( CURRENT == 2 )); then
    candidates=(${commands.map(({ name }) => name).join(' ')} --help --version)
  else
    case \${words[2]} in
${commands.map(command => toCase(command, words => `candidates=(${words})`)).join('')}    esac
  fi
  compadd -- $candidates
  _files
}
compdef _gw gw
`;

const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const toFish: Format = commands => `# fish completion for gw
${commands.map(toFishCommand).join('')}`;

function toFishCommand(command: CompletedCommand): string {
  const { name, actions = [] } = command;
  const condition = `-n '__fish_seen_subcommand_from ${name}'`;
  const flags = listFlags(command).map(([flag, { short, type, about, choices }]) =>
    [
      `complete -c gw ${condition} -l ${flag}`,
      ...(short ? [`-s ${short}`] : []),
      ...(type === 'string' ? ['-r'] : []),
      ...(choices ? [`-f -a '${choices.join(' ')}'`] : []),
      `-d ${quote(about)}`,
    ].join(' '),
  );
  return [
    `complete -c gw -n '__fish_use_subcommand' -a ${name}`,
    ...(actions.length > 0 ? [`complete -c gw ${condition} -a '${actions.join(' ')}'`] : []),
    ...flags,
    '',
  ].join('\n');
}

const formats: ReadonlyMap<string, Format> = new Map(Object.entries({ bash: toBash, zsh: toZsh, fish: toFish }));

/** Shells that have a completion. */
export const completionShells: readonly string[] = [...formats.keys()];

/** Completion script of a shell. */
export function formatCompletion(shell: string, commands: readonly CompletedCommand[]): string {
  const format = formats.get(shell);
  if (format) return format(commands);
  const reason = `completion needs a shell: ${completionShells.join(', ')}`;
  throw problem.usage({ detail: { reason, kind: 'completion' } });
}
