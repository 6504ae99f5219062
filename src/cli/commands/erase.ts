import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { defined } from '../../options.js'
import { objectPath } from '../../retention/archive/format.js'
import { eraseAll } from '../../retention/erase.js'
import type { ArchivedIn } from '../../store.js'
import { addCommand, interruptible } from '../command.js'
import { Failure, UsageError } from '../failure.js'
import { storeOption } from '../log/options.js'
import { actorName, storeLog } from '../log/store-log.js'
import { sayWhyNone } from '../log/why-none.js'
import { flag, noteOption, type OptionsOf, text } from '../options.js'
import { counted, type Output } from '../output.js'
import { openExistingStore } from '../store.js'
import { printable } from '../terminal-text.js'

const options = {
  label: text('<label>', 'only references with this label, such as customer'),
  source: text('<name>', 'only events of this source'),
  dryRun: flag('count the payloads, erase nothing'),
  yes: flag('do not ask for confirmation'),
  ...noteOption,
  ...storeOption,
}

const MOST_SHOWN = 20

export function add(program: Command): void {
  addCommand(program, 'erase <reference>', {
    description:
      'Deletes the payload of every delivery about this customer, order or other object, by the references of its events (`events show` lists them). The events stay, so that duplicates are still recognised. Archives are not changed: the command names the objects that still hold what it erased. This cannot be undone.',
    examples: [
      'hookonce erase cus_123 --dry-run',
      'hookonce erase 25 --label customer --source woocommerce --note "request of 2026-07-01"',
      'hookonce erase cus_123 --source stripe --note "request of 2026-07-01" --yes',
    ],
    options,
    run: ({ output, options }, reference: string) => erase(output, reference, options),
  })
}

async function erase(output: Output, reference: string, given: OptionsOf<typeof options>): Promise<number> {
  const { source, label, note, dryRun = false } = given
  if (!dryRun && !note)
    throw new UsageError('erase needs --note, which is recorded in the audit. --dry-run needs no note.')
  const store = await openExistingStore(given.store)
  try {
    const subject = { reference, actor: actorName(), ...defined({ source, label }) }
    const found = await eraseAll(store, { ...subject, note: note ?? '', dryRun: true })
    if (!dryRun) await confirm(reference, found.events, given.yes === true)
    const erased = dryRun
      ? found
      : await eraseAll(store, { ...subject, note: note!, signal: interruptible().signal })
    output.result({ dryRun, reference, ...erased }, () => {
      const events = counted(erased.events, 'event', 'events')
      const verb = dryRun ? 'would be erased (--dry-run)' : 'erased'
      const busy =
        erased.busy > 0
          ? `\n${counted(erased.busy, 'delivery is', 'deliveries are')} left, because an event in it is being processed, or an event of another reference in it is not finished. Retry or ignore its dead letters, then erase again`
          : ''
      return `payloads of ${events} with reference "${printable(reference)}" ${verb}${busy}${archivedText(erased.archived)}`
    })
    if (erased.events === 0 && erased.busy === 0)
      await sayWhyNone(output, storeLog(store), { reference, ...defined({ source, label }) })
    return erased.busy > 0 && !dryRun ? 1 : 0
  } finally {
    await store.close()
  }
}

/** Nothing for an archive that holds none of them. */
function archivedText(archived: readonly ArchivedIn[]): string {
  if (archived.length === 0) return ''
  const shown = archived
    .slice(0, MOST_SHOWN)
    .map(({ source, day, object }) => `\n  ${objectPath(source, day, object)}`)
  const rest =
    archived.length > MOST_SHOWN ? `\n  and ${archived.length - MOST_SHOWN} more (--json lists all)` : ''
  return `\nThe archive still holds them, in ${counted(archived.length, 'object', 'objects')}. Erased payloads are never restored from it; delete the objects if they must be gone there too:${shown.join('')}${rest}`
}

/** Erasing cannot be undone, so a person types the reference again, and a script gives --yes. */
async function confirm(reference: string, events: number, yes: boolean): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new UsageError('Erasing cannot be undone. Check with --dry-run first, then give --yes.')
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  const typed = await reader.question(
    `This erases the payloads of ${counted(events, 'event', 'events')} and cannot be undone. Type the reference to continue: `,
  )
  reader.close()
  if (typed.trim() !== reference)
    throw new Failure('The typed text is not the reference. Nothing was erased.')
}
