/** Senders that deliver at a steady rate, each its own source, each the next event only after the last was answered. */
import type { Inbox, Receipt, Source, Store } from 'hookonce'
import { unverified } from 'hookonce/providers'
import { expect } from 'vitest'

export interface Answered {
  readonly source: string
  readonly id: string
  readonly httpStatus: number
  readonly status: string
}

export const senderNames = ['s0', 's1', 's2', 's3', 's4']

export function senderSources(): Record<string, Source> {
  return Object.fromEntries(
    senderNames.map((name) => [
      name,
      unverified({ id: 'json:id', type: 'json:type', reference: 'json:ref' }),
    ]),
  )
}

export interface Senders {
  readonly answered: readonly Answered[]
  /** Ends them, and says what was answered. */
  stop(): Promise<readonly Answered[]>
}

/** `perSecond` over all of them. A delivery that is not answered with 2xx is sent again with `retry`. */
export function startSenders(
  deliver: (source: string, body: Buffer) => Promise<Pick<Receipt, 'httpStatus' | 'status'>>,
  { perSecond, retry = false }: { perSecond: number; retry?: boolean },
): Senders {
  const answered: Answered[] = []
  let stopped = false
  const pauseMs = (1_000 / perSecond) * senderNames.length

  async function send(source: string): Promise<void> {
    for (let n = 0; !stopped; n++) {
      const id = `${source}-${n}`
      const began = performance.now()
      for (;;) {
        const body = Buffer.from(
          JSON.stringify({ id, type: 'order.paid', ref: source, note: 'x'.repeat(200) }),
        )
        const { httpStatus, status } = await deliver(source, body)
        answered.push({ source, id, httpStatus, status })
        if (httpStatus < 300 || !retry) break
        await wait(20)
      }
      await wait(pauseMs - (performance.now() - began))
    }
  }
  const running = Promise.all(senderNames.map(send))
  return {
    answered,
    async stop() {
      stopped = true
      await running
      return answered
    },
  }
}

export const toInbox = (inbox: Inbox) => (source: string, body: Buffer) =>
  inbox.receive(source, { method: 'POST', url: `http://localhost/webhooks/${source}`, headers: {}, body })

/** The ids of each source in the order of the log. */
export async function idsBySource(store: Store): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  for (let cursor: string | null = null; ; ) {
    const page: Awaited<ReturnType<Store['list']>> = await store.list({}, { limit: 500, cursor })
    for (const { source, id } of page.events) {
      const list = found.get(source) ?? []
      list.unshift(id)
      found.set(source, list)
    }
    cursor = page.next
    if (cursor === null) return found
  }
}

/** Everything that was answered with 2xx is in the log, once, and each source in the order it was sent. */
export async function expectAllInOrder(store: Store, answered: readonly Answered[]): Promise<void> {
  const found = await idsBySource(store)
  for (const name of senderNames) {
    const acked = answered.filter((one) => one.source === name && one.httpStatus < 300).map((one) => one.id)
    expect(found.get(name) ?? []).toEqual([...new Set(acked)])
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))
}
