import type { Finding } from '../../store.js'

export const INSPECTED_ROWS = 10_000

export const NAMED_ROWS = 5

export function setting(name: string, value: string, ok: boolean, fix: string): Finding {
  return { name, value, ok, fix: ok ? null : fix }
}

export type RowCheck = 'twice' | 'reopened' | 'orphaned' | 'bytesMissing' | 'vanished'

/** `broken`: their seqs in order, at most `NAMED_ROWS + 1`. `looked`: the number of rows read. */
export interface RowsFound {
  readonly broken: readonly number[]
  readonly looked: number
}

const words: Readonly<Record<RowCheck, { name: string; fix: string }>> = {
  twice: {
    name: 'one row per event',
    fix: 'Several rows have the same source and id. Keep the row with the lowest seq, remove the others, and restore the unique key.',
  },
  reopened: {
    name: 'finished events stay finished',
    fix: 'These events are finished and are also in the work table, so they would run again although nobody asked for it. Find the program that writes to the tables, then delete these seqs from the work table.',
  },
  orphaned: {
    name: 'every work row has its event',
    fix: 'These seqs are in the work table, but their events are missing. Restore the events from a backup, or delete these seqs from the work table: their next delivery is then a new event.',
  },
  bytesMissing: {
    name: 'unfinished events have their payloads',
    fix: 'The payloads of these events are missing, and nobody has erased them. Restore them from an archive or a backup, or ignore the events.',
  },
  vanished: {
    name: 'unfinished events have their work rows',
    fix: 'These events are not in the work table and have no successful attempt, so they will not run. Replay them with force.',
  },
}

export function rowFinding(check: RowCheck, { broken, looked }: RowsFound): Finding {
  const { name, fix } = words[check]
  if (broken.length === 0) return { name, value: `${looked} rows checked`, ok: true, fix: null }
  const named = broken.slice(0, NAMED_ROWS).join(', ')
  const more = broken.length > NAMED_ROWS ? ' and more' : ''
  return { name, value: `broken: seq ${named}${more}`, ok: false, fix }
}

export function uniqueKeyFinding(state: 'valid' | 'missing' | 'not valid', restore: string): Finding {
  const name = 'unique key (source, event_id)'
  if (state === 'valid') return { name, value: state, ok: true, fix: null }
  const fix = `Without this key an event can be recorded twice. Stop intake, remove duplicate rows, and restore the key: ${restore}`
  return { name, value: state, ok: false, fix }
}
