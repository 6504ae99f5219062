/** `hookonce erase`: the bytes of everything about one reference, for good. */

import { createInterface } from 'node:readline/promises'
import { eraseAll } from '../../retention/erase.js'
import { Failure, UsageError } from '../failure.js'
import { actorName } from '../log/store-log.js'
import { type Output, plain } from '../output.js'
import { openExistingStore } from '../store.js'
import { stopSignal } from './sources.js'

export interface EraseCommandOptions {
  readonly store?: string
  readonly source?: string
  readonly reason?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
}

export async function erase(
  output: Output,
  reference: string,
  options: EraseCommandOptions,
): Promise<number> {
  const { source, reason, dryRun = false } = options
  if (!dryRun && !reason)
    throw new UsageError('Say why with --reason: it goes into the audit. --dry-run counts without one.')
  const store = await openExistingStore(options.store)
  try {
    const about = {
      reference,
      actor: actorName(),
      ...(source === undefined ? {} : { source }),
    }
    const found = await eraseAll(store, { ...about, reason: reason ?? '', dryRun: true })
    if (!dryRun) await confirm(reference, found.events, options.yes === true)
    const erased = dryRun ? found : await eraseAll(store, { ...about, reason: reason!, signal: stopSignal() })
    output.result({ dryRun, reference, ...erased }, () => {
      const verb = dryRun ? 'would lose their bytes (--dry-run)' : 'have lost their bytes, for good'
      const busy =
        erased.busy > 0
          ? `\n${erased.busy} deliveries are being processed: erase again when they are done`
          : ''
      return `${erased.events} events about "${plain(reference)}" ${verb}${busy}`
    })
    return erased.busy > 0 && !dryRun ? 1 : 0
  } finally {
    await store.close()
  }
}

/** It cannot be taken back, so a person types it again and a script says --yes. */
async function confirm(reference: string, events: number, yes: boolean): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new UsageError('Erasing cannot be taken back. Look with --dry-run first, then give --yes.')
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  const typed = await reader.question(
    `${events} events lose their bytes for good. Type the reference to go on: `,
  )
  reader.close()
  if (typed.trim() !== reference) throw new Failure('That is not the reference. Nothing was erased.')
}
