import type { Command } from 'commander'
import { action, addCommand } from '../command.js'

export function addProviders(program: Command): void {
  addCommand(program, 'providers [provider]', {
    summary: 'list the supported senders, or show one',
    description:
      'Lists the supported senders. With a name, shows how that sender signs, identifies and retries its events.',
    examples: ['hookonce providers', 'hookonce providers github'],
  }).action(
    action(async ({ output }, provider?: string) => {
      const { providers } = await import('../providers.js')
      providers(output, provider)
    }),
  )
}
