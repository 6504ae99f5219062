import type { Command } from 'commander'
import { action, addCommand } from '../command.js'
import { addStoreOption } from '../log/options.js'

export function addDoctor(program: Command): void {
  const command = addCommand(program, 'doctor', {
    summary: 'look at everything that should be so, and say what to do',
    description:
      'Looks at Node, the configuration and its secrets, the store, its settings, schema and clock, retention, the backlog, and whether the log keeps its invariants. Exit code 1 when something is wrong.',
    examples: ['hookonce doctor', 'hookonce doctor --store postgres://localhost/shop --json'],
  })
  addStoreOption(command).action(
    action<{ store?: string }>(async ({ output, options }) =>
      (await import('../doctor.js')).doctor(output, options.store),
    ),
  )
}
