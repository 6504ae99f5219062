/**
 * One process of the black-box run: intake over HTTP, or a worker. Every handler writes a row without a unique key, in the
 * transaction of its event. Ends by SIGTERM as a server does.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { childStore, say } from '../../test/support/child-store.mjs'

/**
 * @typedef {object} Told
 * @property {'intake' | 'worker'} role
 * @property {number} port
 * @property {string} insert the event id and the number of its run are its parameters
 * @property {string[]} where
 * @property {string | null} redis
 * @property {number} clockMs how wrong the clock of this process is
 * @property {number} concurrency
 * @property {number} leaseMs
 */
/** @type {Told} */
const told = JSON.parse(process.argv[2] ?? '{}')
const { role, port, insert, where, redis: redisUrl, clockMs, concurrency, leaseMs } = told
if (clockMs !== 0) {
  const now = () => Real.now() + clockMs
  const Real = Date
  globalThis.Date = new Proxy(Real, {
    construct: (_, given) => (given.length === 0 ? new Real(now()) : Reflect.construct(Real, given)),
    get: (_, name) => (name === 'now' ? now : Reflect.get(Real, name)),
  })
}
const { createInbox, silentLog } = await import('hookonce')
const { unverified, github } = await import('hookonce/providers')
const { createServer, runUntilSignal } = await import('hookonce/server')
const { redis } = await import('hookonce/redis')
const { Redis } = await import('ioredis')

const client = redisUrl === null ? null : new Redis(redisUrl, { maxRetriesPerRequest: 1 })
client?.on('error', () => {})
/** @type {{ id: 'json:id', type: 'json:type', reference: 'json:ref' }} */
const fields = { id: 'json:id', type: 'json:type', reference: 'json:ref' }
const inbox = createInbox({
  store: /** @type {import('hookonce').Store} */ (childStore(where)),
  sources: {
    shop: unverified(fields),
    inline: unverified({ ...fields, mode: 'inline' }),
    many: unverified({ ...fields, each: 'events[]' }),
    github: github({ secret: 'black-box-secret-of-32-characters' }),
  },
  ...(client && { seen: redis(/** @type {never} */ (client)) }),
  retention: false,
  log: silentLog,
  processing: { leaseMs, pollMs: 200, concurrency, retry: { maxAttempts: 1_000, firstMs: 50, maxMs: 500 } },
})

/** @param {unknown} tx @param {string} id @param {number} run */
async function effect(tx, id, run) {
  const handle = /** @type {any} */ (tx)
  await (where[0] === 'sqlite' ? handle.run(insert, [id, run]) : handle.query(insert, [id, run]))
}
for (const source of /** @type {const} */ (['shop', 'inline', 'many'])) {
  // These take so long that a fault often comes between the claim and the effect, and that lanes without order show.
  inbox.on(source, 'tx', async (event, ctx) => {
    await sleep(150)
    await effect(ctx.tx, event.id, ctx.run)
  })
  inbox.on(
    source,
    'ordered',
    async (event, ctx) => {
      await sleep(Math.random() * 150)
      await effect(ctx.tx, event.id, ctx.run)
    },
    { order: 'reference' },
  )
  inbox.on(source, 'share', (event, ctx) => effect(ctx.tx, event.id, ctx.run), { share: 10 })
  inbox.on(source, 'once', async (event, ctx) => {
    await ctx.once('mail', () => sleep(5))
    await effect(ctx.tx, event.id, ctx.run)
  })
  inbox.onBatch(source, 'batch', async (events, ctx) => {
    for (const event of events) await effect(ctx.tx, event.id, 1)
  })
}

for (;;) {
  try {
    if (role === 'worker') await inbox.start()
    else await inbox.store()
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
