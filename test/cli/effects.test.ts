/** `retry --effect`: a person decides about an effect whose end is unknown, on the store itself and through a server. */
import { createHash } from 'node:crypto'
import { createInbox, silentLog } from 'hookonce'
import { createServer, type HookonceServer } from 'hookonce/server'
import { sqlite } from 'hookonce/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Folder, freshFolder } from '../support/cli.js'
import { post, shop } from '../support/processing.js'

const token = 'operator-token-0123456789abcdef'
let folder: Folder
let server: HookonceServer
let url: string
const calls: string[] = []
const results: unknown[] = []

beforeAll(async () => {
  folder = freshFolder()
  const inbox = createInbox({
    store: sqlite(`${folder.path}/events.db`),
    sources: { shop: shop() },
    log: silentLog,
    processing: { retry: { firstDelay: 0 } },
  })
  inbox.on('shop', '*', async ({ id }, ctx) => {
    const charge = () => {
      calls.push(id)
      if (calls.filter((one) => one === id).length === 1) throw new Error('no answer')
      return { id: 'ch_2' }
    }
    results.push(await ctx.once('charge', charge, { keyLives: 0 }))
  })
  const sha256 = createHash('sha256').update(token).digest('hex')
  server = createServer(inbox, { port: 0, admin: { tokens: [{ name: 'tests', role: 'operator', sha256 }] } })
  url = (await server.listen()).url
})
afterAll(async () => {
  await server.close()
  await folder.remove()
})

describe.each([
  ['on the store', () => ['--store', `sqlite:${folder.path}/events.db`]],
  ['through a server', () => ['--server', url]],
])('%s', (way, where) => {
  const run = (...args: string[]) => folder.call([...args, ...where()], { HOOKONCE_TOKEN: token })

  test('an effect did not happen and runs, or it did and its result is used', async () => {
    const [not, paid] = [`not ${way}`, `paid ${way}`]
    const { inbox } = server
    for (const id of [not, paid]) {
      await post(inbox, { id })
      for (const _ of ['begun', 'refused']) await inbox.process('shop', id)
      expect(await inbox.events.get({ source: 'shop', id })).toMatchObject({
        state: 'failed',
        nextAttemptAt: null,
        reason: expect.stringContaining(`hookonce retry shop/${id} --effect 'charge=null' when it did not`),
      })
    }
    results.length = 0
    expect(
      await run('retry', `shop/${not}`, '--effect', 'charge=null', '--note', 'not at the bank'),
    ).toMatchObject({
      code: 0,
    })
    await inbox.drain()
    expect(await run('retry', `shop/${paid}`, '--effect', 'charge={"id":"ch_1"}')).toMatchObject({ code: 0 })
    await inbox.drain()
    expect(results).toEqual([{ id: 'ch_2' }, { id: 'ch_1' }])
    expect(calls.filter((one) => one === not || one === paid)).toEqual([not, paid, not])
  })

  test('a wrong value, or several events, is an error of use', async () => {
    for (const [args, problem] of [
      [['retry', 'a', '--effect', 'charge'], 'such as charge=null'],
      [['retry', 'a', '--effect', 'charge={'], 'such as charge=null'],
      [['retry', 'a', 'b', '--effect', 'charge=null'], 'is about one event'],
      [['retry', '--source', 'shop', '--effect', 'charge=null'], 'is about one event'],
    ] as const) {
      const { code, stderr } = await run(...args)
      expect([code, stderr]).toEqual([2, expect.stringContaining(problem)])
    }
  })
})
