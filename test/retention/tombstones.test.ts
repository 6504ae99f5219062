/** Captured bytes after the dedupe horizon: senders without a signed time. */
import { createInbox, type InboxOptions, type Store } from 'hookonce'
import { github, gitlab, razorpay, stripe } from 'hookonce/providers'
import { describe, expect, it } from 'vitest'
import { retentionPolicy } from '#dist/retention/policy.js'
import { onBothStores, secretOf } from '../support/inboxes.js'

const DAY_MS = 86_400_000
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** The same store; what it records was received so many days ago. */
function backdated(store: Store, days: () => number): Store {
  const record: Store['record'] = (deliveries) =>
    store.record(deliveries.map((one) => ({ ...one, receivedAt: Date.now() - days() * DAY_MS })))
  return Object.assign(Object.create(store) as Store, { record })
}

onBothStores((stores) => {
  let n = 0
  function open(options: Partial<InboxOptions> = {}) {
    let age = 91
    const handled: string[] = []
    const inbox = createInbox({
      store: backdated(stores.open(), () => age),
      sources: { github: github({ secret: secretOf('github') }) },
      log: silent,
      ...options,
    })
    inbox.on('github', '*', (event) => void handled.push(event.id))
    return {
      inbox,
      handled,
      run: ++n,
      today: () => {
        age = 0
      },
    }
  }

  async function captured(inbox: ReturnType<typeof createInbox>, id: string) {
    const source = inbox.sources.get('github')!
    const sample = source.sample({ now: Date.now(), id })
    return source.sign({ ...sample, body: JSON.stringify({ action: id }) })
  }

  for (const mode of ['background', 'inline'] as const) {
    it(`captured bytes on day 91 are answered as processed, and no handler runs (${mode})`, async () => {
      const { inbox, handled, run, today } = open({
        sources: { github: github({ secret: secretOf('github'), mode }) },
      })
      const id = `${mode}-${run}`
      const delivery = await captured(inbox, id)
      await inbox.receive('github', delivery)
      await inbox.drain()
      expect(handled).toEqual([id])
      await inbox.retain()
      expect(await inbox.events.get({ source: 'github', eventId: id })).toBeNull()
      today()
      expect(await inbox.receive('github', delivery)).toMatchObject({
        httpStatus: 200,
        status: 'already_processed',
        duplicate: true,
        eventId: id,
      })
      await inbox.drain()
      expect(handled).toEqual([id])
      expect(inbox.counters.of('github')).toMatchObject({ recorded: 1, duplicates: 0, retired: 1 })
      // Under another id: handled, as within the horizon, and flagged with an event that is not there any more.
      const forged = { ...delivery, headers: { ...delivery.headers, 'x-github-delivery': `${id}-new` } }
      await inbox.receive('github', forged)
      expect(await inbox.events.get({ source: 'github', eventId: `${id}-new` })).toMatchObject({ sameAs: id })
      await inbox.drain()
      await inbox.stop()
    })
  }

  it('without tombstones the event is new again; turning them off removes those there are', async () => {
    const before = open({ retention: { tombstones: false } })
    const delivery = await captured(before.inbox, `off-${before.run}`)
    await before.inbox.receive('github', delivery)
    await before.inbox.drain()
    await before.inbox.retain()
    expect(await before.inbox.receive('github', delivery)).toMatchObject({ status: 'accepted' })
    await before.inbox.drain()
    await before.inbox.stop()

    const kept = open()
    await kept.inbox.retain()
    expect(await kept.inbox.receive('github', delivery)).toMatchObject({ status: 'already_processed' })
    await kept.inbox.stop()

    const off = open({ retention: { sources: { github: { tombstones: false } } } })
    await off.inbox.retain()
    expect(await off.inbox.receive('github', delivery)).toMatchObject({ status: 'accepted' })
    await off.inbox.drain()
    await off.inbox.stop()
  })
})

describe('by default', () => {
  const secret = secretOf('any')
  const sources = new Map(
    Object.entries({
      github: github({ secret }),
      razorpay: razorpay({ secret }),
      stripe: stripe({ secret }),
      gitlab: gitlab({ secret }),
    }),
  )
  it('senders that sign no time leave tombstones; a signed time or a mere token needs none', () => {
    const policy = retentionPolicy({}, sources)
    expect(Object.fromEntries([...policy].map(([name, { tombstones }]) => [name, tombstones]))).toEqual({
      github: Number.POSITIVE_INFINITY,
      razorpay: Number.POSITIVE_INFINITY,
      stripe: 0,
      gitlab: 0,
    })
  })
  it('can be chosen for all, or for one', () => {
    const policy = retentionPolicy(
      { tombstones: '365d', sources: { github: { tombstones: false }, stripe: { tombstones: 'forever' } } },
      sources,
    )
    expect([...policy.values()].map(({ tombstones }) => tombstones)).toEqual([
      0,
      365 * DAY_MS,
      Number.POSITIVE_INFINITY,
      365 * DAY_MS,
    ])
    expect(() => retentionPolicy({ tombstones: 'often' as never }, sources)).toThrow(/must be an age/)
  })
})
