/** Why an event waits, in words. */
import { ageText } from '../duration.js'
import type { EventView } from '../server/admin/views.js'

export type WaitingView = NonNullable<EventView['waiting']>

/** `now`: milliseconds since 1970. */
export function waitingText(waiting: WaitingView, now = Date.now()): string {
  switch (waiting.kind) {
    case 'review':
      return `waits for a decision: its signed content is that of ${waiting.sameAs}; retry or ignore it`
    case 'running':
      return `being handled by ${waiting.worker}, begun ${ago(waiting.sinceAt, now)}`
    case 'paused':
      return `paused by ${waiting.actor} ${ago(waiting.sinceAt, now)}; ${resumeCommand(waiting)} ends it`
    case 'behind': {
      const when = waiting.dueAt === null ? 'is being handled' : `is ${due(waiting.dueAt, now)}`
      return `waits behind ${waiting.id} of the same reference, which ${when}`
    }
    case 'retry':
      return `failed; the next attempt is ${due(waiting.dueAt, now)}`
    case 'postponed':
      return `postponed; ${due(waiting.dueAt, now)}`
    case 'circuit':
      return `its destination fails; ${due(waiting.dueAt, now)}`
    case 'places':
      return `all places are taken, by ${waiting.takenBy.map(({ source, pattern, count }) => `${source} ${pattern} (${count})`).join(', ')}`
    case 'limit': {
      const when = waiting.dueAt === null ? 'until a call ends' : due(waiting.dueAt, now)
      return `the limit of its handler ${waiting.pattern} holds it back; ${when}`
    }
    case 'no_worker':
      return 'no process runs handlers: start one with hookonce serve, hookonce worker or inbox.start()'
    case 'no_handler':
      return 'no running process has a handler for it'
    case 'due':
      return 'due: a worker takes it in a moment'
  }
}

/** A glob is quoted, because a shell would replace it by the names of files. */
export function resumeCommand({ source, type }: { source: string; type: string | null }): string {
  const word = (text: string) => (/^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
  return `hookonce resume ${[source, ...(type === null ? [] : [type])].map(word).join(' ')}`
}

function due(at: string, now: number): string {
  const inMs = Date.parse(at) - now
  return inMs > 0 ? `due in ${ageText(inMs)}` : 'due now'
}

function ago(at: string, now: number): string {
  return `${ageText(Math.max(0, now - Date.parse(at)))} ago`
}
