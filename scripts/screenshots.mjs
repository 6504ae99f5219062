/**
 * `npm run screenshots`: takes the pictures of the dashboard that README and docs/dashboard.md show, in `docs/images`.
 * With `--all`: every screen, light and dark, desktop and phone, in `screenshots/`, to look at after a change. A server with
 * sample events runs in this process; the pages are real.
 */

import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createInbox, silentLog } from 'hookonce'
import { addDestinations } from 'hookonce/forward'
import { github, stripe, unverified } from 'hookonce/providers'
import { createServer } from 'hookonce/server'
import { sqlite } from 'hookonce/sqlite'
import { chromium } from 'playwright-core'
import { wholeInbox } from '#dist/inbox/internals.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const isAll = process.argv.includes('--all')
const out = join(root, isAll ? 'screenshots' : 'docs/images')
const pages = await Promise.all(
  ['README.md', 'docs/dashboard.md'].map((name) => readFile(join(root, name), 'utf8')),
)
const shown = new Set(pages.join().match(/[\w-]+(?=\.webp)/g))
const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const executablePath = process.env.HOOKONCE_TEST_CHROMIUM ?? programs.find((path) => existsSync(path))

const screens = /** @type {const} */ ([
  ['overview', '/'],
  ['events', '/events'],
  ['event', '/events/shop/order_1022'],
  ['dead-letter', '/events/shop/order_1014'],
  ['dead-letters', '/dead-letters'],
  ['review', '/review'],
  ['sources', '/sources'],
  ['source', '/sources/stripe'],
  ['handlers', '/handlers'],
  ['destinations', '/destinations'],
  ['workers', '/workers'],
  ['system', '/system'],
])
const shapes = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 760 }, isMobile: true, hasTouch: true },
}

/** The address that the pages show: that of `hookonce dev`. */
const PORT = 4100
const HOUR_MS = 3_600_000
const HOURS = 22

/** How far the clock of the log is behind. The events of a day are recorded within a minute. */
let behindMs = HOURS * HOUR_MS
const clock = { now: () => Date.now() - behindMs, steady: () => performance.now() }

const folder = await mkdtemp(join(tmpdir(), 'hookonce-screenshots-'))
process.chdir(folder)
const receiver = createHttpServer((request, response) => request.resume().on('end', () => response.end()))
await new Promise((resolve) => receiver.listen(0, '127.0.0.1', () => resolve(null)))
const inbox = sampleInbox()
await inbox.start()
const server = createServer(inbox, {
  port: PORT,
  admin: { authorize: () => ({ actor: 'ann', role: 'admin' }) },
})
const { url } = await server.listen()
const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] })
try {
  await mkdir(out, { recursive: true })
  await photograph('first-run', '/events')
  await fill(url)
  for (const [name, path] of screens) await photograph(name, path)
} finally {
  await browser.close()
  await server.close()
  receiver.close()
  process.chdir(out)
  await rm(folder, { recursive: true, force: true })
}

/** @param {string} name @param {string} path */
async function photograph(name, path) {
  for (const [shape, options] of Object.entries(shapes)) {
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      const title = `${name}-${shape}-${colorScheme}`
      if (!isAll && !shown.has(title)) continue
      const context = await browser.newContext({ ...options, colorScheme, reducedMotion: 'reduce' })
      const page = await context.newPage()
      await page.goto(`${url}${path}`)
      await page.locator('main h1').first().waitFor()
      const payload = page.getByRole('button', { name: 'Show the payload' })
      if (/^\/events\/./.test(path)) await payload.click()
      // Not waitForFunction: it needs eval, which the policy of the page refuses.
      while ((await page.locator('main [data-loading]').count()) > 0) await page.waitForTimeout(50)
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      const file = join(out, `${title}.webp`)
      // Not page.screenshot: it has no WebP, and text in a JPEG of this size is blurred.
      const session = await context.newCDPSession(page)
      const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
      const image = Buffer.from(data, 'base64')
      await writeFile(file, image)
      console.log(`${title}.webp ${Math.round(image.length / 1_024)} kB`)
      await context.close()
    }
  }
}

function sampleInbox() {
  const made = createInbox({
    store: sqlite('hookonce.db', { clock }),
    clock,
    sources: {
      shop: unverified({ id: 'json:id', type: 'json:type', reference: 'json:customer' }),
      stripe: stripe({ secret: 'whsec_screenshots_have_no_real_secret' }),
      github: github({ secret: 'screenshots have no real secret' }),
    },
    log: silentLog,
    processing: { worker: 'web-1', retry: { maxAttempts: 1 } },
  })
  made
    .on('shop', 'order.*', async (event, ctx) => {
      await ctx.once('receipt', async () => 'sent')
      await new Promise((resolve) => setTimeout(resolve, (Number(event.id.slice(6)) * 7) % 30))
      if (Number(event.id.slice(6)) % 14 === 6) throw new Error(`the ledger answered 503 for ${event.id}`)
      if (event.id === 'order_1041') throw new Error('the customer has no address')
    })
    .on('github', 'push', () => {})
  const { port } = /** @type {import('node:net').AddressInfo} */ (receiver.address())
  addDestinations(made, {
    billing: {
      url: `http://127.0.0.1:${port}/webhooks`,
      secret: 'whsec_c2NyZWVuc2hvdHMgaGF2ZSBubyByZWFsIHNlY3JldA==',
      sources: ['stripe'],
      types: ['invoice.*'],
      allowPrivate: ['127.0.0.1'],
    },
  })
  return made
}

/** @param {string} origin */
async function fill(origin) {
  let next = 1000
  for (let hour = 0; hour <= HOURS; hour++) {
    behindMs = (HOURS - hour) * HOUR_MS
    const orders = 2 + Math.round(3 * Math.sin(hour / 3.5) ** 2)
    for (const end = next + orders; next < end; next++) await sendOrder(origin, next)
    if (hour === HOURS) await sendOthers(origin)
    await inbox.drain()
    // The growth of the counters is added to the current hour when it is read, once a second at most.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    const to = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS
    await wholeInbox(inbox).history.read({ from: to - HOUR_MS, to, stepMs: HOUR_MS })
  }
}

/** @param {string} origin @param {number} i */
async function sendOrder(origin, i) {
  const type = i % 3 ? 'order.paid' : 'order.created'
  const body = { id: `order_${i}`, type, customer: `cus_${i % 9}`, amount: i * 10 }
  await post(`${origin}/webhooks/shop`, body)
  const again = i === 1022 ? 4 : i % 5 === 2 ? 1 : 0
  for (let n = 0; n < again; n++) await post(`${origin}/webhooks/shop`, body)
  if (i === 1031) await post(`${origin}/webhooks/shop`, { ...body, amount: 1 })
}

/** @param {string} origin */
async function sendOthers(origin) {
  for (const name of ['stripe', 'github', 'stripe'])
    await fetch(`${origin}/api/sources/${name}/test`, { method: 'POST' })
  await post(`${origin}/webhooks/stripe`, { id: 'evt_forged' }, { 'stripe-signature': 't=1,v1=00' })
  await post(`${origin}/webhooks/shop`, { id: 'cart_77', type: 'cart.left', customer: 'cus_3' })
}

/** @param {string} to @param {object} body @param {Record<string, string>} [headers] */
async function post(to, body, headers = {}) {
  await fetch(to, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}
