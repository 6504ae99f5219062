/** The programs of examples/, as their READMEs start them, with deliveries signed by the sender's rules. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Source } from 'hookonce'
import { alertmanager, github, resend, shopify, stripe } from 'hookonce/providers'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { installExtras } from '../../scripts/extras.mjs'
import { freshDatabase } from '../support/database.js'
import { freePort } from '../support/free-port.js'

await installExtras('apps')

const examples = fileURLToPath(new URL('../../examples', import.meta.url))
const cli = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const whsec = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

test('express-stripe-orders: five deliveries make one order, one row of the ledger and one receipt', async () => {
  const { url, query } = await database()
  const secret = 'whsec_a_secret_of_the_examples'
  const app = await start('node', ['--import', 'tsx', 'express-stripe-orders/app.ts'], {
    DATABASE_URL: url,
    STRIPE_WEBHOOK_SECRET: secret,
  })
  const source = stripe({ secret })
  expect(await deliver(source, `${app.url}/webhooks/stripe`, 'invoice.paid', 5)).toEqual([
    200, 200, 200, 200, 200,
  ])
  await expect.poll(() => query('select count(*)::int as n from orders')).toEqual([{ n: 1 }])
  expect(await query('select count(*)::int as n from ledger')).toEqual([{ n: 1 }])
  const receipts = () => app.printed().match(/receipt to/g)?.length
  await expect.poll(receipts).toBe(1)
  expect(await app.stop()).toBe(0)
  expect(receipts()).toBe(1)
})

test('hono-drizzle: the status of an order is written through Drizzle', async () => {
  const { url } = await database()
  const secret = 'shpss_a_secret_of_the_examples'
  const app = await start('node', ['--import', 'tsx', 'hono-drizzle/app.ts'], {
    DATABASE_URL: url,
    SHOPIFY_SECRET: secret,
  })
  await deliver(shopify({ secret }), `${app.url}/webhooks/shopify`, 'orders/create', 3)
  await expect
    .poll(async () => (await fetch(`${app.url}/orders`)).json())
    .toEqual([{ id: expect.any(String), status: 'create' }])
})

test('fastify-prisma: a mail event is written through Prisma', async () => {
  const { url } = await database()
  const app = await start('node', ['--import', 'tsx', 'fastify-prisma/app.ts'], {
    DATABASE_URL: url,
    RESEND_WEBHOOK_SECRET: whsec,
  })
  await deliver(resend({ secret: whsec }), `${app.url}/webhooks/resend`, 'email.delivered', 3)
  await expect
    .poll(async () => (await fetch(`${app.url}/effects`)).json())
    .toEqual([{ value: expect.stringContaining('email.delivered') }])
})

test('github-app: an opened pull request is labelled once', async () => {
  const labels: string[] = []
  const api = createServer((request, response) => {
    labels.push(request.url ?? '')
    response.end('[]')
  }).listen(0)
  await once(api, 'listening')
  cleanups.push(() => api.close())
  const secret = 'a secret of the examples'
  const folder = await temporaryFolder()
  const app = await start('node', ['--import', 'tsx', 'github-app/app.ts'], {
    GITHUB_WEBHOOK_SECRET: secret,
    GITHUB_API: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    DATABASE: join(folder, 'events.db'),
  })
  await deliver(github({ secret }), `${app.url}/webhooks/github`, 'pull_request.opened', 4)
  await expect.poll(() => labels.length).toBe(1)
  expect(await app.stop()).toBe(0)
  expect(labels).toEqual([expect.stringMatching(/^\/repos\/.+\/issues\/\d+\/labels$/)])
})

test('alertmanager: an alert opens one incident, and its end closes it', async () => {
  const token = 'a token of the examples'
  const app = await start('node', ['--import', 'tsx', 'alertmanager/app.ts'], {
    ALERTMANAGER_TOKEN: token,
    DATABASE: join(await temporaryFolder(), 'events.db'),
  })
  const source = alertmanager({ bearerToken: token })
  const send = (type: string) => deliver(source, `${app.url}/webhooks/alerts`, type, 3, 'alert_1')
  expect(await send('firing')).toEqual([200, 200, 200])
  await expect.poll(app.printed).toContain('incident ProbeFailure: open, change 1\n')
  await send('resolved')
  await expect.poll(app.printed).toContain('incident ProbeFailure: closed, change 2\n')
  expect(await app.stop()).toBe(0)
  expect(app.printed().match(/^incident /gm)).toHaveLength(2)
})

test('gateway-python: a Python app gets each event, signed', async () => {
  const folder = await temporaryFolder()
  const secret = 'whsec_a_secret_of_the_examples'
  const shopPort = await freePort()
  const shop = { SHOP_SECRET: whsec, SHOP_DATABASE: join(folder, 'shop.db'), SHOP_PORT: String(shopPort) }
  await start('python3', [join(examples, 'gateway-python/app.py')], shop)
  const port = await freePort()
  const serve = ['serve', '--config', join(examples, 'gateway-python/hookonce.config.ts')]
  await start('node', [cli, ...serve], {
    ...{ STRIPE_WEBHOOK_SECRET: secret, SHOP_SECRET: whsec },
    ...{ SHOP_URL: `http://127.0.0.1:${shopPort}/webhooks`, HOOKONCE_PORT: String(port) },
    HOOKONCE_STORE: `sqlite:${join(folder, 'events.db')}`,
  })
  await deliver(stripe({ secret }), `http://127.0.0.1:${port}/webhooks/stripe`, 'invoice.paid', 3)
  const effects = async () => {
    const counted = promisify(execFile)('python3', [
      '-c',
      'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("select count(*), max(type) from effects").fetchone())',
      join(folder, 'shop.db'),
    ])
    return counted.then(
      ({ stdout }) => stdout.trim(),
      () => 'not readable now',
    )
  }
  await expect.poll(effects).toBe("(1, 'invoice.paid')")
})

interface Program {
  readonly url: string
  printed(): string
  /** Ends it as a platform does. Resolves to its exit code. */
  stop(): Promise<number | null>
}

async function start(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<Program> {
  const port = String(await freePort())
  const child: ChildProcess = spawn(program === 'node' ? process.execPath : program, args, {
    cwd: examples,
    env: { ...process.env, PORT: port, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  cleanups.push(async () => {
    child.kill('SIGKILL')
    await ended
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part) => (printed += part))
  await expect
    .poll(() => (child.exitCode === null ? /listening|hookonce serves/.test(printed) : `ended: ${printed}`), {
      timeout: 60_000,
    })
    .toBe(true)
  return {
    url: `http://127.0.0.1:${port}`,
    printed: () => printed,
    async stop() {
      child.kill('SIGTERM')
      const [code] = await ended
      return code
    },
  }
}

/** One event, delivered several times at once. Resolves to the statuses. */
async function deliver(
  source: Source,
  url: string,
  type: string,
  times: number,
  id?: string,
): Promise<number[]> {
  const sample = source.sample({ type, now: Date.now(), ...(id === undefined ? {} : { id }) })
  const { method, headers, body } = await source.sign({ ...sample, url, now: Date.now() })
  const posts = Array.from({ length: times }, () => fetch(url, { method, headers, body }))
  return (await Promise.all(posts)).map(({ status }) => status)
}

async function database() {
  const { url, drop } = await freshDatabase()
  const pool = new pg.Pool({ connectionString: url })
  pool.on('error', () => {}) // the database is dropped while a connection closes
  cleanups.push(drop, () => pool.end())
  return { url, query: async (sql: string) => (await pool.query(sql)).rows }
}

async function temporaryFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'hookonce-examples-'))
  cleanups.push(() => rm(path, { recursive: true, force: true }))
  return path
}
