import type { Command } from 'commander'
import { action, addCommand } from '../command.js'

export function addProviders(program: Command): void {
  addCommand(program, 'providers [provider]', {
    summary: 'list the senders hookonce knows, or show one',
    description:
      'Lists the senders hookonce knows; with a name, how that one signs, names and retries its events.',
    examples: ['hookonce providers', 'hookonce providers github'],
  }).action(
    action(async ({ output }, provider?: string) => {
      const { providers } = await import('../providers.js')
      providers(output, provider)
    }),
  )
}
