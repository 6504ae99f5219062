/** What an inspection says, in the same words for every store. */
import type { Finding } from '../../store.js'

/** How many rows of a table one check looks at. */
export const INSPECTED_ROWS = 10_000

/** How many of the rows that break an invariant are named. */
export const NAMED_ROWS = 5

export function setting(name: string, value: string, ok: boolean, fix: string): Finding {
  return { name, value, ok, fix: ok ? null : fix }
}

export type RowCheck = 'twice' | 'reopened' | 'orphaned' | 'bytesMissing' | 'vanished'

/** The seqs a check found, in order, at most one more than are named; and how many rows it looked at. */
export interface RowsFound {
  readonly broken: readonly number[]
  readonly looked: number
}

const words: Readonly<Record<RowCheck, { name: string; fix: string }>> = {
  twice: {
    name: 'I2 one row per event',
    fix: 'The same source and id stand in several rows. Keep the lowest seq of each pair, remove the others, and restore the unique key.',
  },
  reopened: {
    name: 'I5 what is finished stays finished',
    fix: 'These events are finished and stand in the work table: they would run again though nobody ordered it. Find out who writes to the tables by hand, then delete these seqs from the work table.',
  },
  orphaned: {
    name: 'I7 work has its event',
    fix: 'These seqs stand in the work table and their events are gone. Restore the events from a backup, or delete these seqs from the work table: their next delivery is then new.',
  },
  bytesMissing: {
    name: 'I7 what is unfinished has its bytes',
    fix: 'Nobody erased the bytes of these events, and they are gone. Restore them from an archive or a backup, or ignore the events.',
  },
  vanished: {
    name: 'I7 nothing unfinished has vanished',
    fix: 'These events are not in the work table and no attempt says that they succeeded: they will not run. Order a replay of them with force.',
  },
}

export function rowFinding(check: RowCheck, { broken, looked }: RowsFound): Finding {
  const { name, fix } = words[check]
  if (broken.length === 0) return { name, value: `${looked} rows looked at`, ok: true, fix: null }
  const named = broken.slice(0, NAMED_ROWS).join(', ')
  const more = broken.length > NAMED_ROWS ? ' and more' : ''
  return { name, value: `broken: seq ${named}${more}`, ok: false, fix }
}

export function uniqueKeyFinding(state: 'valid' | 'missing' | 'not valid', restore: string): Finding {
  const name = 'I2 unique key (source, event_id)'
  if (state === 'valid') return { name, value: state, ok: true, fix: null }
  const fix = `Nothing keeps one event from being recorded twice. Stop intake, remove double rows, and restore the key: ${restore}`
  return { name, value: state, ok: false, fix }
}
