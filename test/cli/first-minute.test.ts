/** What a new user does in the first minute, with the real binary, on a folder with nothing in it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '#dist/open-store.js'
import { type Folder, freshFolder, type Running } from '../support/cli.js'

let folder: Folder
beforeAll(() => {
  folder = freshFolder()
})
afterAll(() => folder.remove())

async function startDev(): Promise<{ server: Running; port: string }> {
  const server = folder.start(['dev', '--port', '0'])
  const [, port] = await server.says(/intake +http:\/\/127\.0\.0\.1:(\d+)\//)
  return { server, port: port! }
}

async function inStore<T>(look: (store: Awaited<ReturnType<typeof openStore>>) => Promise<T>): Promise<T> {
  const store = await openStore(`sqlite:${folder.path}/.hookonce/events.db`)
  try {
    return await look(store)
  } finally {
    await store.close()
  }
}

test('start, send five at once, look, replay, kill, start again: it is still there', async () => {
  const { server, port } = await startDev()
  await server.says(/try +hookonce send stripe/)
  const env = { HOOKONCE_PORT: port }

  const sent = await folder.run(
    ['send', 'stripe', 'invoice.paid', '--id', 'evt_1', '--times', '5', '--concurrency', '5'],
    env,
  )
  expect(sent.code).toBe(0)
  expect(sent.stdout).toContain('5 deliveries -> 1 recorded, 4 duplicates, all 200')
  await server.says(/stripe +invoice\.paid +evt_1 +recorded/)
  await server.says(/evt_1 +handled, attempt 1/)

  // Duplicates are counted at once and written a little later.
  const listed = async () => (await folder.run(['events', 'list'])).stdout
  await expect.poll(listed).toMatch(/stripe +invoice\.paid +evt_1 +succeeded +5 +in_/)

  const shown = await folder.run(['events', 'show', 'evt_1', '--payload'])
  expect(shown.stdout).toContain('5, the last')
  expect(shown.stdout).toContain('"type": "invoice.paid"')

  const refused = await folder.run(['replay', 'evt_1'])
  expect(refused.code).toBe(1)
  expect(refused.stdout).toContain('add --force to run it again')
  const replayed = await folder.run(['replay', 'evt_1', '--force', '--note', 'first minute'])
  expect(replayed.stdout).toContain('succeeded -> pending')
  expect(replayed.code).toBe(0)
  await server.says(/handled, attempt 1[\s\S]*evt_1 +handled, attempt 1/)
  // The line is the handler's own. Its outcome is written after it, and the kill below must come later still.
  await expect.poll(listed).toMatch(/evt_1 +succeeded/)

  server.signal('SIGKILL')
  await server.ended()
  const again = await startDev()
  const later = await folder.run(['send', 'stripe', 'invoice.paid', '--id', 'evt_1'], {
    HOOKONCE_PORT: again.port,
  })
  expect(later.stdout).toContain('1 delivery -> 0 recorded, 1 duplicate, all 200')
  again.server.signal('SIGTERM')
  expect((await again.server.ended()).code).toBe(0)

  await inStore(async (store) => {
    const { events } = await store.list({})
    expect(events).toHaveLength(1)
    expect(events[0]).toMatchObject({
      source: 'stripe',
      id: 'evt_1',
      state: 'succeeded',
      attempts: 2,
      run: 2,
      deliveries: 6,
      conflicts: 1, // the sample of the later send carries another time
    })
    const { audits } = await store.audit.list({})
    expect(audits.map(({ verb, note }) => [verb, note])).toEqual([
      ['replay', 'first minute'],
      ['payload', ''],
    ])
  })
})
