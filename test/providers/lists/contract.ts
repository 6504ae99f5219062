/** What every list of a sender must do, against a fake of its API. */
import type { Delivery, ListedEvent, ListReader, Source } from 'hookonce'
import type { ProviderFactory } from 'hookonce/providers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type SenderFake,
  type SenderShape,
  type SentEvent,
  startSenderFake,
} from '../../support/sender-apis/server.js'

export interface ListTrial {
  readonly factory: ProviderFactory<never>
  readonly key: string
  /** Besides `apiKey` and `baseUrl`. */
  readonly options?: Readonly<Record<string, unknown>>
  readonly shape: SenderShape
  /** An event of this type, as the sender delivers it. Default: the sample of the type. */
  readonly sent?: (source: Source, type: string, nth: number, occurredAt: number) => Promise<SentEvent>
  /** Default: all types that have a sample. */
  readonly types?: readonly string[]
}

/** A whole second: some senders give no more. */
export const noon = Date.UTC(2026, 10, 15, 12, 0, 0)

export function listContract({ factory, key, options = {}, shape, types, sent = sample }: ListTrial): void {
  describe(`the list of ${factory.definition.name}`, () => {
    let fake: SenderFake
    let source: Source
    let reader: ListReader
    beforeEach(async () => {
      fake = await startSenderFake(shape, key)
      source = make({ apiKey: key, baseUrl: fake.url })
      reader = source.list!.open({ signal: AbortSignal.timeout(30_000) })
    })
    afterEach(() => fake.close())

    function make(more: object): Source {
      const all = { ...factory.example(), ...options, ...more }
      return (factory as unknown as (options: object) => Source)(all)
    }
    async function send(count: number, everyMs = 1_000): Promise<void> {
      const [type] = types ?? source.sampleTypes
      for (let i = 0; i < count; i++) fake.events.push(await sent(source, type!, i, noon + i * everyMs))
    }
    async function listed(since: number, until: number): Promise<ListedEvent[]> {
      const found: ListedEvent[] = []
      for await (const page of reader.pages({ since, until })) found.push(...page)
      return found
    }
    const sorted = (ids: Iterable<string>) => [...ids].sort()

    test('gives each event the name, the type and the reference that its delivery has', async () => {
      for (const [i, type] of (types ?? source.sampleTypes).entries())
        fake.events.push(await sent(source, type, i, noon + i * 1_000))
      const byId = new Map((await listed(noon, noon + 3_600_000)).map((event) => [event.id, event]))
      for (const { delivery, occurredAt } of fake.events) {
        const [event] = source.identify(delivery)
        const found = byId.get(event!.id)
        expect(found, `${event!.type} ${event!.id}`).toBeDefined()
        expect(Math.abs(found!.occurredAt - occurredAt)).toBeLessThan(1_000)
        const whole = source.list!.hasBodies ? await reader.complete(found!) : found!
        expect(whole).toMatchObject({ id: event!.id, type: event!.type })
        if (!source.list!.hasBodies) continue
        expect(whole!.reference).toBe(event!.reference)
        const [stored] = source.slices!(whole!.delivery!)
        expect(stored).toMatchObject({ id: event!.id, type: event!.type, reference: event!.reference })
        expect(source.identify(whole!.delivery!).map(({ id }) => id)).toEqual([event!.id])
      }
      expect(byId.size).toBe(fake.events.length)
    })

    test('reads page after page, and only events of the range', async () => {
      await send(250)
      const found = await listed(noon + 10_000, noon + 240_000)
      expect(sorted(found.map(({ id }) => id))).toEqual(
        sorted(fake.events.slice(10, 240).map(({ id }) => id)),
      )
    })

    test('leaves out no event of the range when others are added while it is read', async () => {
      await send(150)
      const wanted = fake.events.map(({ id }) => id)
      const [type] = types ?? source.sampleTypes
      const later = await Promise.all(
        Array.from({ length: 40 }, (_, i) => sent(source, type!, 1_000 + i, noon + 150_000 + i)),
      )
      fake.before = () => fake.events.push(...later.splice(0, 20))
      const found = new Set((await listed(noon, noon + 400_000)).map(({ id }) => id))
      for (const id of wanted) expect(found).toContain(id)
    })

    test('waits when the sender asks for patience or fails, and then goes on', async () => {
      await send(3)
      fake.next.push({ status: 429, headers: { 'retry-after': '0' } }, { status: 500, body: 'oops' }, 'hang')
      expect(await listed(noon, noon + 60_000)).toHaveLength(3)
    })

    test('refuses a wrong key with an error that does not have it', async () => {
      await send(1)
      const wrong = `${key}wrong`
      const other = make({ apiKey: wrong, baseUrl: fake.url }).list!.open({
        signal: AbortSignal.timeout(30_000),
      })
      const error = await other
        .pages({ since: noon, until: noon + 1 })
        [Symbol.asyncIterator]()
        .next()
        .catch((e) => e)
      expect(error).toMatchObject({ code: 'SENDER_REFUSED' })
      expect(String(error.stack) + JSON.stringify(error)).not.toContain(wrong)
    })

    test('knows an event of any time by its id, where the sender can be asked', async (context) => {
      if (!source.list!.knowsIds) return context.skip('the sender cannot be asked for one id')
      await send(1)
      const [event] = source.identify(fake.events[0]!.delivery)
      expect(await reader.has(event!.id)).toBe(true)
      expect(await reader.has('evt_never')).toBe(false)
    })
  })
}

async function sample(source: Source, type: string, nth: number, occurredAt: number): Promise<SentEvent> {
  const id = `${type.replace(/[^a-z]/gi, '').slice(0, 8)}${nth}`
  const delivery: Delivery = await source.sign(source.sample({ type, id: `evt_${id}`, now: occurredAt }))
  const [event] = source.identify(delivery)
  return { id: event!.id, type: event!.type, occurredAt, delivery }
}
