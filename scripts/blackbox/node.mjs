/**
 * One process of the black-box run: intake over HTTP, or a worker. Every handler writes a row without a unique key, in the
 * transaction of its event. Ends by SIGTERM as a server does.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { wholeInbox } from '#dist/inbox/internals.js'
import { childStore, say } from '../../test/support/child-store.mjs'

/**
 * @typedef {object} Told
 * @property {'intake' | 'worker'} role
 * @property {number} port
 * @property {string} insert the event id, the number of its run and of its attempt (0: unknown) are its parameters
 * @property {string[]} where
 * @property {string | null} redis
 * @property {number} clockMs how wrong the clock of this process is
 * @property {number} concurrency
 * @property {number} leaseMs
 * @property {string | null} spool
 * @property {boolean} handlesLate
 * @property {string} flags a folder: a file `hang` or `serializable` in it changes what the handlers do
 */
/** @type {Told} */
const told = JSON.parse(process.argv[2] ?? '{}')
const { role, port, insert, where, redis: redisUrl, clockMs, concurrency, leaseMs, spool } = told
if (clockMs !== 0) {
  const now = () => Real.now() + clockMs
  const Real = Date
  globalThis.Date = new Proxy(Real, {
    construct: (_, given) => (given.length === 0 ? new Real(now()) : Reflect.construct(Real, given)),
    get: (_, name) => (name === 'now' ? now : Reflect.get(Real, name)),
  })
}
const { createInbox, silentLog } = await import('hookonce')
const { github } = await import('#dist/providers/github.js')
const { unverified } = await import('#dist/providers/generic/credentials.js')
const { createServer, runUntilSignal } = await import('hookonce/server')
const { redis } = await import('hookonce/redis')
const { Redis } = await import('ioredis')

const client = redisUrl === null ? null : new Redis(redisUrl, { maxRetriesPerRequest: 1 })
client?.on('error', () => {})
/** @type {{ id: 'json:id', type: 'json:type', reference: 'json:ref' }} */
const fields = { id: 'json:id', type: 'json:type', reference: 'json:ref' }
const inbox = createInbox({
  store: /** @type {import('hookonce').Store} */ (await childStore(where)),
  sources: {
    shop: unverified(fields),
    inline: unverified({ ...fields, mode: 'inline' }),
    many: unverified({ ...fields, each: 'events[]' }),
    github: github({ secret: 'black-box-secret-of-32-characters' }),
  },
  ...(spool !== null && { spool: { path: spool } }),
  ...(client && { seen: redis(/** @type {never} */ (client)) }),
  retention: false,
  log: silentLog,
  processing: {
    lease: leaseMs,
    poll: 200,
    concurrency,
    retry: { maxAttempts: 1_000, firstDelay: 50, maxDelay: 500 },
  },
})

/** @param {unknown} tx @param {string} id @param {number} run @param {number} attempt */
async function effect(tx, id, run, attempt) {
  const handle = /** @type {any} */ (tx)
  await (where[0] === 'sqlite'
    ? handle.run(insert, [id, run, attempt])
    : handle.query(insert, [id, run, attempt]))
}
/** @param {'hang' | 'serializable'} flag */
const isOn = (flag) => existsSync(join(told.flags, flag))
for (const source of /** @type {const} */ (['shop', 'inline', 'many'])) {
  // These take so long that a fault often comes between the claim and the effect, and that lanes without order show.
  inbox.on(source, 'tx', async (event, ctx) => {
    await sleep(150)
    await effect(ctx.tx, event.id, ctx.run, ctx.attempt)
  })
  inbox.on(
    source,
    'ordered',
    async (event, ctx) => {
      const isSerializable = isOn('serializable')
      if (isSerializable)
        await /** @type {any} */ (ctx.tx).query('set transaction isolation level serializable')
      else await sleep(Math.random() * 150)
      await effect(ctx.tx, event.id, ctx.run, ctx.attempt)
      // Events of the lane that are recorded meanwhile are not in the snapshot of this transaction.
      if (isSerializable) await sleep(150)
    },
    { order: 'reference' },
  )
  inbox.on(source, 'share', (event, ctx) => effect(ctx.tx, event.id, ctx.run, ctx.attempt), { share: 10 })
  inbox.on(source, 'once', async (event, ctx) => {
    await ctx.once('mail', () => sleep(5))
    await effect(ctx.tx, event.id, ctx.run, ctx.attempt)
  })
  inbox.on(source, 'hang', async (event, ctx) => {
    while (isOn('hang')) await sleep(50)
    await effect(ctx.tx, event.id, ctx.run, ctx.attempt)
  })
  if (told.handlesLate)
    inbox.on(source, 'late', (event, ctx) => effect(ctx.tx, event.id, ctx.run, ctx.attempt))
  inbox.onBatch(source, 'batch', async (events, ctx) => {
    for (const event of events) await effect(ctx.tx, event.id, 1, 0)
  })
}

for (;;) {
  try {
    if (role === 'worker') await inbox.start()
    else await wholeInbox(inbox).store()
    break
  } catch {
    await sleep(200)
  }
}
if (role === 'worker') {
  say('ready')
  process.exit(await runUntilSignal({ inbox }))
}
const server = createServer(inbox, { port, admin: false })
await server.listen()
say('ready')
process.exit(await runUntilSignal({ server }))
