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
        const { completionScript } = await import('../completion.js')
        const script = completionScript(program, shell)
        output.result({ shell, script }, () => script)
      }),
    )
}
