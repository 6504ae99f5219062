import type { Command } from 'commander'
import type { Finding } from '../../store.js'
import { action, addCommand } from '../command.js'
import { addStoreOption } from '../log/options.js'
import { type Output, table } from '../output.js'
import { printable } from '../terminal-text.js'

export function addDoctor(program: Command): void {
  const command = addCommand(program, 'doctor', {
    summary: 'check configuration, store and log for problems',
    description:
      'Checks Node, the configuration and its secrets, the store, its settings, schema and clock, retention, the backlog, and the consistency of the log. Prints a fix for each problem. Exit code 1 when there is a problem.',
    examples: ['hookonce doctor', 'hookonce doctor --store postgres://localhost/shop --json'],
  })
  addStoreOption(command).action(
    action<{ store?: string }>(async ({ output, options }) => {
      const { examineInstallation } = await import('../doctor.js')
      return report(output, await examineInstallation(options.store))
    }),
  )
}

function report(output: Output, findings: readonly Finding[]): number {
  const problems = findings.filter(({ ok }) => !ok)
  output.result({ ok: problems.length === 0, findings }, (paint) => {
    const rows = findings.map(({ name, value, ok }) => [
      ok ? paint('green', 'ok') : paint('red', 'PROBLEM'),
      name,
      printable(value),
    ])
    const fixes = problems.map(({ name, fix }) => `${name}: ${printable(fix ?? '')}`)
    return `${table(rows)}${fixes.length > 0 ? `\n\n${paint('bold', 'What to do')}\n  ${fixes.join('\n  ')}` : ''}`
  })
  return problems.length === 0 ? 0 : 1
}
