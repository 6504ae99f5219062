/** `hookonce pause` and `resume`: on a store, and through the API of a server. */
import { createInbox, silentLog } from 'hookonce'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '#dist/open-store.js'
import { type RunningAdmin, startAdmin, tokenOf } from '../server/support.js'
import { type Folder, freshFolder } from '../support/cli.js'
import { post, shop } from '../support/processing.js'

let folder: Folder
let running: RunningAdmin
let inbox: ReturnType<typeof createInbox>
beforeAll(async () => {
  folder = freshFolder()
  const store = await openStore(`sqlite:${folder.path}/events.db`)
  inbox = createInbox({ store, sources: { shop: shop() }, log: silentLog })
  inbox.on('shop', '*', () => {})
  inbox.on('shop', '*', () => {}, { consumer: 'mail' })
  await post(inbox, { id: 'first' })
  await inbox.drain()
  running = await startAdmin(inbox)
})
afterAll(async () => {
  await running.stop()
  await inbox.stop()
  await folder.remove()
})

const ways = [
  ['on a store', () => ({ HOOKONCE_STORE: 'sqlite:events.db' }), /^cli/],
  [
    'through a server',
    () => ({ HOOKONCE_SERVER: running.url, HOOKONCE_TOKEN: tokenOf('operator') }),
    /^the-operator$/,
  ],
] as const

describe.each(ways)('%s', (_, env, actor) => {
  const run = (...args: string[]) => folder.call(args, env() as Record<string, string>)
  const json = async (...args: string[]) => {
    const { code, stdout } = await run(...args, '--json')
    return { code, ...(JSON.parse(stdout) as Record<string, unknown>) }
  }

  test('an operator pauses a type, sees it listed, and resumes it', async () => {
    expect((await run('pause')).stdout).toBe('Nothing is paused.\n')
    const paused = await run('pause', 'shop', 'order.*', '--note', 'ticket 4711')
    expect(paused).toMatchObject({
      code: 0,
      stdout: "shop order.* is paused, in all processes; hookonce resume shop 'order.*' ends this\n",
    })
    await post(inbox, { id: `held ${actor}` })
    expect(await inbox.drain()).toBe(1)
    const pause = {
      ...{ source: 'shop', type: 'order.*', note: 'ticket 4711' },
      ...{ actor: expect.stringMatching(actor), at: expect.stringMatching(/Z$/) },
    }
    expect(await json('pause')).toEqual({ code: 0, pauses: [pause] })
    expect((await run('pause')).stdout).toMatch(/^shop order\.\* {2}since .*Z {2}by \S+ {2}ticket 4711\n$/)
    expect((await run('pause', 'shop', 'order.*')).stdout).toBe('shop order.* was paused already\n')
    expect(await json('resume', 'shop', 'order.*')).toMatchObject({ code: 0, changed: true, pauses: [] })
    expect(await inbox.drain()).toBe(1)
  })

  test('a resume of what is not paused fails and says what is', async () => {
    await run('pause', 'shop/mail')
    const { code, stdout, stderr } = await run('resume', 'shop')
    expect([code, stdout]).toEqual([1, 'shop is not paused\n'])
    expect(stderr).toMatch(/These are:\nshop\/mail {2}since/)
    expect((await run('resume', 'shop/mail', '*')).code).toBe(0)
  })

  test('a name that the log does not know is an error that says which one is meant', async () => {
    const { code, stderr } = await run('pause', 'shpo')
    expect(code).toBe(1)
    expect(stderr).toContain('there is no "shpo" (did you mean "shop"?)')
    expect(await json('pause')).toEqual({ code: 0, pauses: [] })
  })
})
