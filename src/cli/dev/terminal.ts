import { type WholeInbox, wholeInbox } from '../../inbox/internals.js'
import type { Inbox } from '../../inbox.js'
import type { Receipt } from '../../intake/answer.js'
import { jsonLog, type LogFields, type Logger } from '../../log.js'
import type { Delivery } from '../../provider.js'
import { type Output, streamLine } from '../output.js'
import { type Paint, printable, type Style } from '../terminal-text.js'

interface Arrival {
  readonly kind: 'delivery'
  readonly at: string
  readonly source: string
  readonly type: string | null
  readonly eventId: string | null
  /** `recorded`, `duplicate`, or the reason of a refusal. */
  readonly verdict: string
  readonly httpStatus: number
  readonly ms: number
}

export function withArrivals<Tx>(
  inbox: WholeInbox<Tx>,
  onArrival: (arrival: Arrival) => void,
): WholeInbox<Tx> {
  return {
    ...inbox,
    async receive(source, delivery) {
      const startedAt = performance.now()
      const receipt = await inbox.receive(source, delivery)
      const ms = Math.round((performance.now() - startedAt) * 10) / 10
      const { httpStatus, eventId } = receipt
      const at = new Date().toISOString()
      const eventType = eventId === null ? null : typeOf(inbox, source, delivery)
      const verdict = verdictOf(receipt)
      onArrival({ kind: 'delivery', at, source, type: eventType, eventId, verdict, httpStatus, ms })
      return receipt
    },
    refused(source, refusal) {
      const receipt = inbox.refused(source, refusal)
      const { httpStatus } = receipt
      const at = new Date().toISOString()
      onArrival({
        kind: 'delivery',
        at,
        source: source ?? '-',
        type: null,
        eventId: null,
        verdict: verdictOf(receipt),
        httpStatus,
        ms: 0,
      })
      return receipt
    },
  }
}

function typeOf(inbox: Pick<WholeInbox, 'sources'>, source: string, delivery: Delivery): string | null {
  return inbox.sources.get(source)?.identify(delivery)[0]?.type ?? null
}

function verdictOf(receipt: Receipt): string {
  const { status, duplicate, reason, events } = receipt
  if (status === 'accepted') return events.length > 1 ? `recorded ${events.length} events` : 'recorded'
  if (duplicate) return status === 'conflict' ? 'conflict' : 'duplicate'
  return reason === null ? status : `${status}: ${reason}`
}

export function printArrival(output: Output, arrival: Arrival): void {
  output.result(arrival, (paint) => {
    const { at, source, type, eventId, verdict, httpStatus, ms } = arrival
    const columns = [at.slice(11, 19), source, type ?? '-', eventId ?? '-'] as const
    return streamLine(paint, columns, coloured(paint, httpStatus, verdict), paint('dim', `${ms} ms`))
  })
}

export function addPrintingHandlers(output: Output, inbox: Inbox): void {
  for (const source of wholeInbox(inbox).sources.keys()) {
    inbox.on(source, '*', async (event, { attempt }) => {
      const at = new Date().toISOString()
      const handled = { kind: 'handled', at, source, type: event.type, eventId: event.id, attempt }
      output.result(handled, (paint) => {
        const columns = [at.slice(11, 19), source, event.type, event.id] as const
        return streamLine(paint, columns, paint('dim', `handled, attempt ${attempt}`))
      })
    })
  }
}

function coloured(paint: Paint, httpStatus: number, verdict: string): string {
  const style: Style = httpStatus >= 500 ? 'red' : httpStatus >= 400 ? 'yellow' : 'green'
  return paint(style, verdict)
}

/** A rejected delivery has its own line already. */
export function terminalLog(output: Output): Logger {
  if (output.json) return jsonLog()
  const line = (style: Style, level: string) => (fields: LogFields, message: string) => {
    if (message === 'delivery rejected') return
    const facts = Object.entries(fields).map(([name, value]) => `${name}=${printable(String(value))}`)
    output.say((paint) => `${paint(style, level)}  ${message}  ${paint('dim', facts.join(' '))}`)
  }
  return {
    debug: () => {},
    info: line('cyan', 'info'),
    warn: line('yellow', 'warning'),
    error: line('red', 'error'),
  }
}
