/**
 * Measures the dashboard on a large log while events arrive: `node scripts/dashboard-load.mjs [events] [sqlite:path | postgres://...]`.
 * Prints how long the overview of the API takes, when the first view can be used, and the long tasks while scrolling.
 */

import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInbox, silentLog } from 'hookonce'
import { unverified } from 'hookonce/providers'
import { createServer } from 'hookonce/server'
import { chromium } from 'playwright-core'
import { wholeInbox } from '#dist/inbox/internals.js'

const RATE = 50
const BATCH = 1_000
const [count = '1000000', given] = process.argv.slice(2)
const folder = await mkdtemp(join(tmpdir(), 'hookonce-load-'))
const inbox = createInbox({
  store: given ?? `sqlite:${join(folder, 'events.db')}`,
  sources: { shop: unverified({ id: 'json:id', type: 'json:type' }), bank: unverified({ id: 'json:id' }) },
  log: silentLog,
})
inbox.on('shop', '*', () => {})
inbox.on('bank', '*', () => {})
const store = await wholeInbox(inbox).store()

const filledAt = performance.now()
for (let i = 0; i < Number(count); i += BATCH) await store.record(batch(i))
say('filled', { events: Number(count), seconds: Math.round((performance.now() - filledAt) / 1_000) })

const server = createServer(inbox, { port: 0, admin: { authorize: () => ({ actor: 'ann', role: 'admin' }) } })
const { url } = await server.listen()
let sent = 0
const arriving = setInterval(() => {
  void inbox.receive('shop', {
    method: 'POST',
    url: `${url}/webhooks/shop`,
    headers: {},
    body: Buffer.from(JSON.stringify({ id: `live_${sent++}`, type: 'order.paid' })),
  })
}, 1_000 / RATE)

for (const path of [
  '/api/overview?window=1h',
  '/api/overview?window=30d',
  '/api/attention',
  '/api/events',
  '/api/facets',
  '/api/dead-letters',
  '/api/find?q=load_77',
  '/api/find?q=load_7',
  '/api/events/count?source=shop',
  '/api/events/count?state=succeeded',
  '/api/events?id=load_77',
  '/api/search?path=**&op=contains&value=load_77',
])
  say(path, { ms: await median(() => fetch(`${url}${path}`).then((answer) => answer.text())) })

const program = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path))
const browser = await chromium.launch({ ...(program && { executablePath: program }), args: ['--no-sandbox'] })
for (const path of ['/', '/events']) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.addInitScript(`globalThis.longTasks = []
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) longTasks.push(entry.duration)
    }).observe({ type: 'longtask', buffered: true })`)
  const startedAt = performance.now()
  await page.goto(`${url}${path}`)
  await page
    .locator(path === '/' ? 'main h1' : '[role=row] a')
    .first()
    .waitFor()
  while ((await page.locator('main [data-loading]').count()) > 0) await page.waitForTimeout(10)
  const ready = Math.round(performance.now() - startedAt)
  await page.evaluate('longTasks.length = 0')
  if (path === '/events')
    for (let i = 0; i < 40; i++) {
      await page.mouse.move(600, 500)
      await page.mouse.wheel(0, 800)
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
    }
  const tasks = /** @type {number[]} */ (await page.evaluate('longTasks'))
  say(`view ${path}`, {
    readyMs: ready,
    longTasks: tasks.length,
    longestMs: Math.round(Math.max(0, ...tasks)),
  })
  await page.close()
}
await browser.close()
clearInterval(arriving)
await server.close({ deadline: 2_000 })
await rm(folder, { recursive: true, force: true })

/** @param {number} from */
function batch(from) {
  return Array.from({ length: BATCH }, (_, i) => ({
    source: (from + i) % 4 === 0 ? 'bank' : 'shop',
    headers: {},
    body: Buffer.from(`{"id":"load_${from + i}"}`),
    events: [
      {
        id: `load_${from + i}`,
        type: `type.${(from + i) % 20}`,
        reference: null,
        contentHash: null,
        guardHash: null,
      },
    ],
    contentGuard: /** @type {const} */ ('accept'),
  }))
}

/** @param {() => Promise<unknown>} run */
async function median(run) {
  const times = []
  for (let i = 0; i < 7; i++) {
    const at = performance.now()
    await run()
    times.push(performance.now() - at)
  }
  return Math.round((times.sort((a, b) => a - b)[3] ?? 0) * 10) / 10
}

/** @param {string} what @param {object} figures */
function say(what, figures) {
  console.log(what, JSON.stringify(figures))
}
