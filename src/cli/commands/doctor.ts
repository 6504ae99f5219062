import type { Command } from 'commander'
import { action, addCommand } from '../command.js'
import { addStoreOption } from '../log/options.js'

export function addDoctor(program: Command): void {
  const command = addCommand(program, 'doctor', {
    summary: 'check configuration, store and log for problems',
    description:
      'Checks Node, the configuration and its secrets, the store, its settings, schema and clock, retention, the backlog, and the consistency of the log. Prints a fix for each problem. Exit code 1 when there is a problem.',
    examples: ['hookonce doctor', 'hookonce doctor --store postgres://localhost/shop --json'],
  })
  addStoreOption(command).action(
    action<{ store?: string }>(async ({ output, options }) =>
      (await import('../doctor.js')).doctor(output, options.store),
    ),
  )
}
