/** An id that people outside choose does not hide the event of somebody else with the same id. */
import { createInbox, type Source } from 'hookonce'
import { rudderstack, segment } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { expect, test } from 'vitest'

const secret = 'a secret that is long enough'
const sources: Record<string, Source> = { segment: segment({ secret }), rudderstack: rudderstack({ secret }) }

for (const [name, source] of Object.entries(sources)) {
  test(`${name}: a page view with a guessed id does not suppress the order that has it`, async () => {
    const inbox = createInbox({ store: sqlite(':memory:'), sources: { [name]: source } })
    const handled: string[] = []
    inbox.on(name, '*', (event) => void handled.push(event.type))
    const send = async (call: object) =>
      inbox.receive(
        name,
        await source.sign({ body: JSON.stringify({ messageId: 'order-1001', ...call }), now: Date.now() }),
      )
    const view = { type: 'page', anonymousId: 'stranger' }
    const order = { type: 'track', event: 'Order Completed', userId: 'u1', properties: { total: 27.5 } }
    expect(await send(view)).toMatchObject({ httpStatus: 200, duplicate: false })
    expect(await send(order)).toMatchObject({ httpStatus: 200, duplicate: false })
    expect(await send(order)).toMatchObject({ httpStatus: 200, duplicate: true })
    expect(await send(view)).toMatchObject({ httpStatus: 200, duplicate: true })
    await inbox.drain()
    expect(handled.sort()).toEqual(['page', 'track.Order Completed'])
    await inbox.stop()
  })
}
