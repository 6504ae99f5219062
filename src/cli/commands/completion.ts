import { Argument, type Command } from 'commander'
import { action, addCommand } from '../command.js'

export function addCompletion(program: Command): void {
  addCommand(program, 'completion', {
    summary: 'print a script that completes commands and options in your shell',
    examples: [
      'source <(hookonce completion bash)',
      'source <(hookonce completion zsh)',
      'hookonce completion fish > ~/.config/fish/completions/hookonce.fish',
    ],
  })
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .action(
      action(async ({ output }, shell: string) => {
        const script = await completionScript(program, shell)
        output.result({ shell, script }, () => script)
      }),
    )
}

/** A position on the command line: the commands so far, and the words and options that may come next. */
interface Position {
  /** `events list`; empty at the start. */
  readonly path: string
  readonly words: readonly string[]
  readonly options: readonly string[]
}

/** The script for a shell. It is made from the declared commands, so it offers exactly those. */
export async function completionScript(program: Command, shell: string): Promise<string> {
  const { catalogue } = await import('../../providers/index.js')
  const positions = positionsBelow(program, '', Object.keys(catalogue))
  if (shell === 'fish') return fish(positions)
  return shell === 'zsh' ? zsh(positions) : bash(positions)
}

function positionsBelow(command: Command, path: string, providers: readonly string[]): Position[] {
  const help = command.createHelp()
  const children = help.visibleCommands(command)
  const words = children.map((child) => child.name())
  const position: Position = {
    path,
    words: [...words, ...command.registeredArguments.flatMap((argument) => choicesOf(argument, providers))],
    options: help.visibleOptions(command).flatMap((option) => (option.long ? [option.long] : [])),
  }
  return [
    position,
    ...children
      .filter((child) => child.name() !== 'help')
      .flatMap((child) => positionsBelow(child, `${path} ${child.name()}`.trim(), providers)),
  ]
}

function choicesOf(
  argument: Command['registeredArguments'][number],
  providers: readonly string[],
): readonly string[] {
  return argument.name() === 'provider' ? providers : (argument.argChoices ?? [])
}

/** The branches of a shell `case` by the commands typed so far. Used by bash and zsh. */
function cases(positions: readonly Position[]): string {
  return positions
    .map(({ path, words, options }) => `    '${path}') offer='${[...words, ...options].join(' ')}' ;;`)
    .join('\n')
}

function bash(positions: readonly Position[]): string {
  return `# hookonce completion for bash: source <(hookonce completion bash)
_hookonce() {
  local place='' word offer known=' ${positions.map(({ path }) => path.replaceAll(' ', '/')).join(' ')} '
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    local next="\${place:+$place }$word"
    [[ "$known" == *" \${next// //} "* ]] && place="$next"
  done
  case "$place" in
${cases(positions)}
  esac
  COMPREPLY=($(compgen -W "$offer" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _hookonce hookonce
`
}

function zsh(positions: readonly Position[]): string {
  return `#compdef hookonce
# hookonce completion for zsh: source <(hookonce completion zsh)
_hookonce() {
  local place='' word next offer typed=("\${(@)words[2,CURRENT-1]}") known=' ${positions.map(({ path }) => path.replaceAll(' ', '/')).join(' ')} '
  for word in $typed; do
    next="\${place:+$place }$word"
    [[ "$known" == *" \${next// //} "* ]] && place="$next"
  done
  case "$place" in
${cases(positions)}
  esac
  compadd -- \${=offer}
}
compdef _hookonce hookonce
`
}

function fish(positions: readonly Position[]): string {
  const lines = positions.flatMap(({ path, words, options }) => {
    const at = `__hookonce_at '${path}'`
    return [
      ...(words.length > 0 ? [`complete -c hookonce -f -n "${at}" -a '${words.join(' ')}'`] : []),
      ...options.map((option) => `complete -c hookonce -n "${at}" -l ${option.slice(2)}`),
    ]
  })
  return `# hookonce completion for fish: hookonce completion fish > ~/.config/fish/completions/hookonce.fish
function __hookonce_at
  set -l known ${positions.map(({ path }) => `'${path}'`).join(' ')}
  set -l place ''
  for word in (commandline -opc)[2..]
    set -l next (string trim -- "$place $word")
    contains -- $next $known; and set place $next
  end
  test "$place" = "$argv[1]"
end
${lines.join('\n')}
`
}
