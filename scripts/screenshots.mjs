/**
 * `npm run screenshots`: every screen of the dashboard, light and dark, desktop and phone, in `docs/images`. A server
 * with sample events runs in this process; the pages are real.
 */
import { existsSync } from 'node:fs'
import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createInbox, silentLog } from 'hookonce'
import { github, stripe, unverified } from 'hookonce/providers'
import { createServer } from 'hookonce/server'
import { chromium } from 'playwright-core'

const out = fileURLToPath(new URL('../docs/images', import.meta.url))
const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const executablePath = process.env.HOOKONCE_TEST_CHROMIUM ?? programs.find((path) => existsSync(path))

const screens = /** @type {const} */ ([
  ['overview', '/'],
  ['events', '/events'],
  ['event', '/events/shop/order_1042'],
  ['dead-letter', '/events/shop/order_1007'],
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

const inbox = sampleInbox()
await inbox.start()
const server = createServer(inbox, { port: 0, admin: { open: true } })
const { url } = await server.listen()
const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] })
try {
  await mkdir(out, { recursive: true })
  await photograph('first-run', '/events')
  await fill(url)
  await inbox.drain()
  for (const [name, path] of screens) await photograph(name, path)
} finally {
  await browser.close()
  await server.close()
}

/** @param {string} name @param {string} path */
async function photograph(name, path) {
  for (const [shape, options] of Object.entries(shapes)) {
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      const context = await browser.newContext({ ...options, colorScheme, reducedMotion: 'reduce' })
      const page = await context.newPage()
      await page.goto(`${url}${path}`)
      await page.locator('main h1').first().waitFor()
      // Not waitForFunction: it needs eval, which the policy of the page refuses.
      while ((await page.locator('main .skeleton').count()) > 0) await page.waitForTimeout(50)
      const file = join(out, `${name}-${shape}-${colorScheme}.jpg`)
      await rm(file, { force: true })
      await page.screenshot({ path: file, type: 'jpeg', quality: 60 })
      console.log(`${file} ${Math.round((await stat(file)).size / 1_024)} kB`)
      await context.close()
    }
  }
}

function sampleInbox() {
  const made = createInbox({
    store: 'sqlite::memory:',
    sources: {
      shop: unverified({ id: 'json:id', type: 'json:type', reference: 'json:customer' }),
      stripe: stripe({ secret: 'whsec_screenshots_have_no_real_secret' }),
      github: github({ secret: 'screenshots have no real secret' }),
    },
    log: silentLog,
    processing: { retry: { maxAttempts: 1 } },
  })
  return made
    .on('shop', 'order.*', async (event, ctx) => {
      await ctx.once('receipt', async () => 'sent')
      if (Number(event.id.slice(6)) % 7 === 6) throw new Error(`the ledger answered 503 for ${event.id}`)
    })
    .on('stripe', '*', () => {})
    .on('github', 'push', () => {})
}

/** @param {string} origin */
async function fill(origin) {
  for (let i = 1000; i < 1060; i++) {
    const body = {
      id: `order_${i}`,
      type: i % 3 ? 'order.paid' : 'order.created',
      customer: `cus_${i % 9}`,
      amount: i * 10,
    }
    await post(`${origin}/webhooks/shop`, body)
    if (i % 5 === 2) await post(`${origin}/webhooks/shop`, body)
    if (i % 20 === 2) await post(`${origin}/webhooks/shop`, { ...body, amount: 1 })
  }
  for (const name of ['stripe', 'github', 'stripe'])
    await fetch(`${origin}/api/sources/${name}/test`, { method: 'POST' })
  await post(`${origin}/webhooks/stripe`, { id: 'evt_forged' }, { 'stripe-signature': 't=1,v1=00' })
}

/** @param {string} to @param {object} body @param {Record<string, string>} [headers] */
async function post(to, body, headers = {}) {
  await fetch(to, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}
