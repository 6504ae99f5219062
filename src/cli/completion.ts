/** Completion scripts, made from the commands themselves: what is not in the tree is not offered. */
import type { Command } from 'commander'
import { catalogue } from '../providers/index.js'

/** One place on the command line: the commands so far, and what may come next. */
interface Place {
  /** `events list`; empty at the start. */
  readonly path: string
  readonly words: readonly string[]
  readonly options: readonly string[]
}

export function completionScript(program: Command, shell: string): string {
  const places = placesBelow(program, '')
  if (shell === 'fish') return fish(places)
  return shell === 'zsh' ? zsh(places) : bash(places)
}

function placesBelow(command: Command, path: string): Place[] {
  const help = command.createHelp()
  const children = help.visibleCommands(command)
  const words = children.map((child) => child.name())
  const place: Place = {
    path,
    words: [...words, ...command.registeredArguments.flatMap(choicesOf)],
    options: help.visibleOptions(command).flatMap((option) => (option.long ? [option.long] : [])),
  }
  return [
    place,
    ...children
      .filter((child) => child.name() !== 'help')
      .flatMap((child) => placesBelow(child, `${path} ${child.name()}`.trim())),
  ]
}

function choicesOf(argument: Command['registeredArguments'][number]): readonly string[] {
  return argument.name() === 'provider' ? Object.keys(catalogue) : (argument.argChoices ?? [])
}

/** The commands typed so far, without options: the longest place they lead to. Shared by bash and zsh. */
function cases(places: readonly Place[]): string {
  return places
    .map(({ path, words, options }) => `    '${path}') offer='${[...words, ...options].join(' ')}' ;;`)
    .join('\n')
}

function bash(places: readonly Place[]): string {
  return `# hookonce completion for bash: source <(hookonce completion bash)
_hookonce() {
  local place='' word offer known=' ${places.map(({ path }) => path.replaceAll(' ', '/')).join(' ')} '
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    local next="\${place:+$place }$word"
    [[ "$known" == *" \${next// //} "* ]] && place="$next"
  done
  case "$place" in
${cases(places)}
  esac
  COMPREPLY=($(compgen -W "$offer" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _hookonce hookonce
`
}

function zsh(places: readonly Place[]): string {
  return `#compdef hookonce
# hookonce completion for zsh: source <(hookonce completion zsh)
_hookonce() {
  local place='' word next offer typed=("\${(@)words[2,CURRENT-1]}") known=' ${places.map(({ path }) => path.replaceAll(' ', '/')).join(' ')} '
  for word in $typed; do
    next="\${place:+$place }$word"
    [[ "$known" == *" \${next// //} "* ]] && place="$next"
  done
  case "$place" in
${cases(places)}
  esac
  compadd -- \${=offer}
}
compdef _hookonce hookonce
`
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, words, options }) => {
    const at = `__hookonce_at '${path}'`
    return [
      ...(words.length > 0 ? [`complete -c hookonce -f -n "${at}" -a '${words.join(' ')}'`] : []),
      ...options.map((option) => `complete -c hookonce -n "${at}" -l ${option.slice(2)}`),
    ]
  })
  return `# hookonce completion for fish: hookonce completion fish > ~/.config/fish/completions/hookonce.fish
function __hookonce_at
  set -l known ${places.map(({ path }) => `'${path}'`).join(' ')}
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
