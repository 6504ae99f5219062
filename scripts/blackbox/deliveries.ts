/** What the senders of the black-box run deliver: all modes, deliveries with several events, forgeries and conflicts. */
import type { Sent } from '../cluster/driver.js'

const types = ['tx', 'share', 'batch', 'ordered', 'once', 'ordered'] as const

function numberOf(id: string): number {
  return Number(id.slice(id.lastIndexOf('-') + 1))
}

function sourceOf(n: number): 'inline' | 'many' | 'shop' {
  if (n % 7 === 0) return 'inline'
  return n % 5 === 0 ? 'many' : 'shop'
}

/** The events of a delivery by its id: the source `many` has three in each. */
export function eventsOf(id: string): string[] {
  return sourceOf(numberOf(id)) === 'many' ? [id, `${id}.1`, `${id}.2`] : [id]
}

export function deliveryOf(id: string, note = 'x'.repeat(200)): Sent {
  const n = numberOf(id)
  const source = sourceOf(n)
  const events = eventsOf(id).map((eventId, i) => ({
    id: eventId,
    type: types[(n + i) % types.length]!,
    ref: `r${Math.floor(n / 30) % 5}`, // several ordered events in a row, also in a short round
    note,
  }))
  return { source, body: JSON.stringify(source === 'many' ? { events } : events[0]) }
}

/**
 * Forged deliveries, and other content under known ids: neither may have an effect of its own. Together they are as
 * frequent as a third of the true deliveries.
 */
export function startStrangers(urls: readonly string[], group: string, perSecond: number): { stop(): void } {
  let n = 0
  const send = (source: string, body: string, headers: Record<string, string> = {}) =>
    void fetch(`${urls[n % urls.length]}/webhooks/${source}`, { method: 'POST', headers, body }).catch(
      () => {},
    )
  const timer = setInterval(() => {
    n++
    send('github', JSON.stringify({ id: `${group}!${n}`, type: 'tx' }), {
      'x-github-delivery': `${group}!${n}`,
      'x-github-event': 'tx',
      'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
    })
    const conflict = deliveryOf(`${group}-${n % 3}`, `conflict ${n}`)
    send(conflict.source, conflict.body)
  }, 6_000 / perSecond)
  return { stop: () => clearInterval(timer) }
}
