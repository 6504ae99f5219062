/** The admin API mounted where people mount things, over real HTTP. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInbox } from 'hookonce'
import { unverified } from 'hookonce/providers'
import { admin, nodeAdmin } from 'hookonce/server'
import { expect, it } from 'vitest'

const hash = (token: string) => createHash('sha256').update(token).digest('hex')

it('answers counts to who has a token, and 401 to who has none', async () => {
  await using inbox = createInbox({
    store: 'sqlite::memory:',
    sources: { shop: unverified({ id: 'json:id' }) },
  })
  const handler = admin(inbox, { tokens: [{ name: 'ann', role: 'viewer', sha256: hash('t0ken') }] })
  const server = createServer(nodeAdmin(handler)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/stats`
  const none = await fetch(url)
  expect([none.status, (await none.json()) as object]).toMatchObject([401, { code: 'UNAUTHENTICATED' }])
  expect((await fetch(url, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401)
  const answer = await fetch(url, { headers: { authorization: 'Bearer t0ken' } })
  expect([answer.status, await answer.json()]).toEqual([200, { sources: [] }])
  server.close()
})
