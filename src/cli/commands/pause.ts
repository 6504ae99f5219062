import type { Command } from 'commander'
import { type PauseKey, pauseName } from '../../store/pauses.js'
import { addCommand } from '../command.js'
import { UsageError } from '../failure.js'
import type { PauseView } from '../log/event-log.js'
import { openLog } from '../log/open-log.js'
import { logOptions } from '../log/options.js'
import { noteOption } from '../options.js'
import { type Output, table } from '../output.js'
import { printable } from '../terminal-text.js'
import { resumeCommand } from '../waiting-text.js'

const options = { ...noteOption, ...logOptions }

export function add(program: Command, verb: 'pause' | 'resume'): void {
  const isPause = verb === 'pause'
  addCommand(program, isPause ? 'pause [source] [type]' : 'resume <source> [type]', {
    description: isPause
      ? 'Holds back the events of a source, of a consumer or destination of it (stripe/mail), or only those of a type or glob. They are still received and recorded, and wait until hookonce resume, in all processes and after a restart. Without a source: lists what is paused, by whom and since when.'
      : 'Ends a pause: the events that waited are handled in their usual order.',
    examples: isPause
      ? [
          'hookonce pause stripe --note "the billing database moves"',
          "hookonce pause stripe 'invoice.*'",
          'hookonce pause stripe/mail',
          'hookonce pause',
        ]
      : ['hookonce resume stripe', "hookonce resume stripe 'invoice.*'"],
    options,
    async run({ output, options }, source?: string, type?: string) {
      const key = { source: source ?? '', type: type === undefined || type === '*' ? null : type }
      if (source === '' || type === '') throw new UsageError('The source and the type must not be empty.')
      await using log = await openLog(options)
      const changed = source !== undefined && (await log.changePause(verb, key, options.note ?? ''))
      const pauses = await log.pauses()
      output.result({ ...(source !== undefined && { ...key, changed }), pauses }, () => {
        if (source === undefined) return pauses.length === 0 ? 'Nothing is paused.' : pauseTable(pauses)
        return said(verb, key, changed)
      })
      if (verb === 'resume' && !changed) sayWhatIsPaused(output, pauses)
      return verb === 'resume' && !changed ? 1 : 0
    },
  })
}

function said(verb: 'pause' | 'resume', key: PauseKey, changed: boolean): string {
  const name = pauseName(key)
  if (verb === 'resume') return changed ? `${printable(name)} goes on` : `${printable(name)} is not paused`
  return changed
    ? `${printable(name)} is paused, in all processes; ${printable(resumeCommand(key))} ends this`
    : `${printable(name)} was paused already`
}

function sayWhatIsPaused(output: Output, pauses: readonly PauseView[]): void {
  if (pauses.length > 0 && !output.json) output.say(`These are:\n${pauseTable(pauses)}`)
}

function pauseTable(pauses: readonly PauseView[]): string {
  return table(
    pauses.map((pause) => [
      printable(pauseName(pause)),
      `since ${pause.at}`,
      `by ${printable(pause.actor)}`,
      printable(pause.note ?? ''),
    ]),
  )
}
