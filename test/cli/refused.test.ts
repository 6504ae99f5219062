/** What an operator must not press: it is refused, counted, and the message says what to use. */
import { createInbox, silentLog } from 'hookonce'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { openStore } from '#dist/open-store.js'
import { type Folder, freshFolder } from '../support/cli.js'
import { post, shop } from '../support/processing.js'

let folder: Folder
const run = (...args: string[]) => folder.call([...args, '--store', 'sqlite:events.db'])

/** `done`, `dead` and `left` without their payloads, `kept` with it, all finished; and `new`, which waits. */
beforeAll(async () => {
  folder = freshFolder()
  const store = await openStore(`sqlite:${folder.path}/events.db`)
  const inbox = createInbox({ store, sources: { shop: shop() }, log: silentLog })
  inbox.on(
    'shop',
    '*',
    ({ id }, ctx) => {
      if (id === 'dead') throw new Error('no')
      if (id === 'left') ctx.ignore('not ours')
    },
    { retry: { maxAttempts: 1 } },
  )
  for (const id of ['done', 'dead', 'left']) await post(inbox, { id, type: 'old', ref: `of ${id}` })
  await inbox.drain()
  const opened = await wholeInbox(inbox).store()
  await opened.retention!.prune({ source: 'shop', payloadsBefore: Date.now() + 1_000, limit: 100 })
  // Retention keeps the payload of a dead letter.
  await inbox.erase({ reference: 'of dead', actor: 'ada', note: '' })
  await post(inbox, { id: 'kept' })
  await inbox.drain()
  await post(inbox, { id: 'new' })
  await inbox.stop()
})
afterAll(() => folder.remove())

async function states(): Promise<Record<string, string>> {
  const { events } = JSON.parse((await run('events', 'list', '--json')).stdout)
  return Object.fromEntries(events.map(({ id, state }: { id: string; state: string }) => [id, state]))
}

test.each([[['--dry-run']], [[]]])(
  'an event whose payload is gone is skipped and stays as it is (%j)',
  async (flags) => {
    const before = await states()
    const one = await run('replay', 'done', '--force', ...flags)
    expect([one.code, one.stdout]).toEqual([1, expect.stringContaining('its payload is not stored')])
    const retried = await run('retry', 'dead', 'left', ...flags)
    expect([retried.code, retried.stdout.match(/its payload is not stored/g)]).toMatchObject([
      1,
      { length: 2 },
    ])
    const all = await run('replay', '--type', 'old', '--force', ...flags)
    expect(all).toMatchObject({
      code: 1,
      stdout: `3 found, 0 ${flags.length > 0 ? 'would be replayed (--dry-run)' : 'replayed'}\n3 skipped: its payload is not stored; if it was archived, restore it from the archive first\n`,
    })
    expect(await states()).toEqual(before)
  },
)

test('a retry of a succeeded event says that it is replayed, and a replay of a waiting one where to look', async () => {
  expect((await run('retry', 'kept')).stdout).toMatch(/hookonce replay --force runs a succeeded one again/)
  expect((await run('replay', 'new')).stdout).toMatch(
    /it has not been handled yet; hookonce events show says why/,
  )
  expect((await run('replay', 'kept')).stdout).toMatch(/add --force to run it again/)
})
