import type { Attempt, Audit, EventView } from '../../api/client'
import { count, duration, number, visible } from '../../app/format'
import type { Shown } from '../../ui/state'
import { nextAttemptOf } from '../../ui/waiting-words'

export interface Moment {
  readonly at: string
  readonly title: string
  readonly detail: string | null
  readonly tone: Shown
  readonly future?: boolean
}

const outcomes: Readonly<Record<Attempt['outcome'], readonly [string, Shown]>> = {
  succeeded: ['succeeded', 'succeeded'],
  ignored: ['ignored the event', 'ignored'],
  failed: ['failed', 'retrying'],
  lost: ['was lost: its worker ended or its lease expired', 'retrying'],
}

const verbs: Readonly<Record<string, string>> = {
  retry: 'Retried',
  replay: 'Replayed',
  ignore: 'Ignored',
  'ignore conflict': 'First content kept',
  payload: 'Payload read',
  conflict: 'Conflict read',
  copy: 'Copied with an edited body',
}

export function timelineOf(
  event: EventView,
  attempts: readonly Attempt[],
  audits: readonly Audit[],
): Moment[] {
  const moments: Moment[] = [
    {
      at: event.receivedAt,
      title: 'Received, recorded, acknowledged',
      detail: 'The sender was answered after the event was in the log.',
      tone: 'pending',
    },
    ...attempts.map((attempt) => momentOf(attempt)),
    ...audits.map(({ at, verb, actor, note }) => ({
      at,
      title: `${verbs[verb] ?? verb} by ${actor}`,
      detail: note === '' ? null : visible(note),
      tone: 'processing' as const,
    })),
  ]
  if (event.deliveries - event.conflicts > 1 && event.lastDeliveryAt !== event.receivedAt) {
    const duplicates = event.deliveries - event.conflicts - 1
    moments.push({
      at: event.lastDeliveryAt,
      title: duplicates === 1 ? 'Duplicate stopped' : `Last of ${count(duplicates, 'duplicate')} stopped`,
      detail: 'The sender was answered; nothing ran again.',
      tone: 'pending',
    })
  }
  if (event.dead) {
    moments.push({
      at: attempts.at(-1)?.finishedAt ?? event.processedAt ?? event.receivedAt,
      title: 'Became a dead letter',
      detail: 'No attempt is left: it waits for a person.',
      tone: 'dead',
    })
  }
  if (event.lastConflict) {
    moments.push({
      at: event.lastConflict.at,
      title: 'Delivered with other content',
      detail: event.lastConflict.decidedAt === null ? 'Nobody has decided about it yet.' : null,
      tone: 'retrying',
    })
  }
  const nextAttemptAt = nextAttemptOf(event)
  if (nextAttemptAt !== null && event.state === 'failed') {
    moments.push({
      at: nextAttemptAt,
      title: 'Next attempt',
      detail: null,
      tone: 'retrying',
      future: true,
    })
  }
  // The order of the list decides between equal times.
  return moments.sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}

function momentOf({ attempt, run, startedAt, finishedAt, outcome, worker }: Attempt): Moment {
  const [text, tone] = outcomes[outcome]
  const took = Date.parse(finishedAt) - Date.parse(startedAt)
  return {
    at: finishedAt,
    title: `Attempt ${number(attempt)} ${text}`,
    detail: `${duration(took)} on ${visible(worker)}${run > 1 ? `, run ${number(run)}` : ''}`,
    tone,
  }
}
