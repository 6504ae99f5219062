/** `nextInbox` as the bundles of a Next.js server call it: each has its own copy of the module. */
import { createInbox, type Inbox } from 'hookonce'
import { nextInbox, nextRoute } from 'hookonce/next'
import { stripe } from 'hookonce/providers'
import { afterEach, expect, test, vi } from 'vitest'
import { secretOf } from '../support/inboxes.js'
import { until } from '../support/processing.js'

const made: Inbox[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  delete (globalThis as Record<symbol, unknown>)[Symbol.for('hookonce.next')]
  for (const inbox of made.splice(0)) await inbox.stop({ deadline: 100 })
})

const source = stripe({ secret: secretOf('next') })

/** The module of the inbox, as one bundle loads it. */
function load(handled: string[], version: string): () => Inbox {
  return nextInbox(() => {
    const inbox = createInbox({ store: 'sqlite::memory:', sources: { stripe: source }, log: 'silent' })
    inbox.on('stripe', '*', (event) => void handled.push(`${version} ${event.id}`))
    made.push(inbox)
    return inbox
  })
}

async function deliver(inbox: () => Inbox, id: string): Promise<number> {
  const { headers, body } = await source.sign(source.sample({ now: Date.now(), id }))
  const request = new Request('https://app.example/webhooks/stripe', {
    method: 'POST',
    headers,
    body: Buffer.from(body),
  })
  return (await nextRoute(inbox).POST(request, { params: Promise.resolve({ source: 'stripe' }) })).status
}

test('every bundle of a server has one inbox, made at its first use', async () => {
  vi.stubEnv('NODE_ENV', 'production')
  const handled: string[] = []
  const [instrumentation, route] = [load(handled, 'first'), load(handled, 'second')]
  nextRoute(route)
  expect(made).toHaveLength(0)
  await instrumentation().start()
  expect(route()).toBe(instrumentation())
  expect(await deliver(route, 'evt_1')).toBe(200)
  await until(async () => handled.length === 1, 'handled')
  expect(handled).toEqual(['first evt_1'])
})

test('in next dev the edited module takes over, started as the one before', async () => {
  vi.stubEnv('NODE_ENV', 'development')
  const handled: string[] = []
  const before = load(handled, 'before')
  await before().start()
  expect(await deliver(before, 'evt_1')).toBe(200)
  await until(async () => handled.length === 1, 'handled')
  const edited = load(handled, 'edited')
  expect(await deliver(edited, 'evt_2')).toBe(200)
  await until(async () => handled.length === 2, 'handled by the edited one')
  expect(handled).toEqual(['before evt_1', 'edited evt_2'])
  expect(before()).toBe(edited())
  await expect(made[0]!.start()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
})
