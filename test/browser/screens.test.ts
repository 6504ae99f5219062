/** Every screen: accessible in light and dark, usable on a phone, inert with hostile payloads, below any path. */

import { randomUUID } from 'node:crypto'
import type { ReconcileReport } from 'hookonce'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { launch, openPage, type Site, startSite, violations, type Watched } from './support.js'

const screens = [
  '/',
  '/events',
  '/events/shop/evt_paid',
  '/events/shop/evt_dead',
  '/dead-letters',
  '/review',
  '/sources',
  '/sources/shop',
  '/sources/stripe',
  '/handlers',
  '/destinations',
  '/workers',
  '/system',
]

let browser: Browser
let site: Site
beforeAll(async () => {
  ;[browser, site] = await Promise.all([launch(), startSite('SQLite', { compared: true })])
  await site.post({ id: 'evt_paid', ref: 'cus_1' })
  await site.post({ id: 'evt_paid', ref: 'cus_1', other: 'bytes' })
  await site.post({ id: 'evt_dead', type: 'order.failed' })
  await site.post({ id: 'evt_bank' }, 'bank')
  await noteReport()
  await site.until<{ dead: boolean }>('/api/events/shop/evt_dead', ({ dead }) => dead)
})
afterAll(async () => {
  await browser.close()
  await site.stop()
})

const opened: Watched[] = []
async function open(path: string, options: Parameters<typeof openPage>[3] = {}, on = site): Promise<Page> {
  const watched = await openPage(browser, on, path, options)
  opened.push(watched)
  return watched.page
}
afterEach(async () => {
  const problems = opened.flatMap((watched) => watched.problems)
  for (const watched of opened.splice(0)) await watched.close()
  expect(problems).toEqual([])
})

/** A comparison that has found what nobody could record. */
async function noteReport(): Promise<void> {
  const at = Date.now() - 600_000
  const counts = { listed: 3, known: 1, missing: 2, recovered: 1, waiting: 0, extra: 1 }
  const report = {
    ...{
      id: randomUUID(),
      source: 'stripe',
      state: 'complete',
      dryRun: false,
      by: 'schedule',
      notBefore: null,
    },
    ...{ since: at - 3_600_000, until: at, comparedUntil: at, completeUntil: at - 60_000 },
    ...{
      startedAt: at,
      finishedAt: at,
      ...counts,
      unsubscribed: 0,
      requests: 2,
      disabled: true,
      error: null,
    },
    types: { 'invoice.paid': counts },
    lacking: [
      { id: `evt_${'x'.repeat(120)}`, type: 'invoice.paid', occurredAt: at, why: 'the store refused it' },
    ],
    extras: ['evt_extra'],
    proves: 'The log was compared with what Stripe lists.',
  } satisfies ReconcileReport
  const store = site.log.open()
  await store.reconciles.note({ id: report.id, source: 'stripe', report: JSON.stringify(report) })
  await store.close()
}

/** The screen has its heading and shows no placeholder any more. */
async function shown(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor()
  // Not waitForFunction: it needs eval, which the policy of the page refuses.
  const placeholders = page.locator('main [data-loading], main [aria-busy=true]')
  await expect.poll(() => placeholders.count()).toBe(0)
}

test('the page of a source says until when the log is complete, and what is missing', async () => {
  const page = await open('/sources/stripe')
  await shown(page)
  const card = page.locator('section, article').filter({ hasText: 'Compared with Stripe' }).last()
  await expect
    .poll(() => card.textContent())
    .toMatch(/Complete until .*1 missing, 1 that the sender does not list/)
  expect(await card.textContent()).toContain('switched this endpoint off')
  expect(await card.textContent()).toContain('the store refused it')
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`no screen has a serious violation of accessibility in ${colorScheme} mode`, async () => {
    const page = await open('/', { colorScheme })
    const found: string[] = []
    for (const path of screens) {
      await page.goto(`${site.url}${path}`)
      await shown(page)
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe(colorScheme)
      for (const violation of await violations(page)) found.push(`${path} ${violation}`)
    }
    expect(found).toEqual([])
  })
}

test('no screen is wider than a phone, and its navigation opens', async () => {
  const page = await open('/events', {
    viewport: { width: 375, height: 720 },
    hasTouch: true,
    isMobile: true,
  })
  await shown(page)
  const wide: string[] = []
  for (const path of screens) {
    await page.goto(`${site.url}${path}`)
    await shown(page)
    const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    if (excess > 0) wide.push(`${path} by ${excess}`)
  }
  expect(wide).toEqual([])
  await page.getByRole('button', { name: 'Open the navigation' }).click()
  await page.getByRole('dialog').getByRole('link', { name: 'Workers' }).click()
  await page.waitForURL('**/workers')
})

const hostile: Readonly<Record<string, string | Uint8Array>> = {
  script: JSON.stringify({
    id: 'evt_script',
    type: '<img src=x onerror=alert(1)>',
    ref: '"><script>alert(1)</script>',
    link: 'javascript:alert(1)',
    html: '<script>alert(1)</script><svg onload=alert(1)>',
  }),
  rtl: JSON.stringify({ id: 'evt_rtl_\u202egnp.exe', type: 'order.paid', text: '\u202eעברית العربية\u2066' }),
  large: JSON.stringify({ id: 'evt_large', type: 'order.paid', text: 'x'.repeat(1_000_000) }),
  keys: JSON.stringify({
    id: 'evt_keys',
    type: 'order.paid',
    keys: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key ${i}`, { value: i }])),
  }),
  deep: `{"id":"evt_deep","type":"order.paid","deep":${'['.repeat(100)}1${']'.repeat(100)}}`,
  bytes: Buffer.concat([
    Buffer.from('{"id":"evt_bytes","type":"order.paid","text":"'),
    Buffer.from([0xff, 0xfe, 0xc3, 0x28]),
    Buffer.from('"}'),
  ]),
}

test('hostile payloads are inert, and none freezes the page', async () => {
  for (const body of Object.values(hostile)) {
    const response = await fetch(`${site.url}/webhooks/shop`, { method: 'POST', body })
    expect([200, 400, 422]).toContain(response.status)
  }
  const { events } = await site.until<{ events: { id: string }[] }>(
    '/api/events?source=shop&limit=20',
    ({ events: found }) => found.some(({ id }) => id === 'evt_keys'),
  )
  const page = await open('/events')
  await page.getByRole('link', { name: 'evt_script' }).waitFor()
  for (const { id } of events.filter((event) => /script|rtl|large|keys|deep|bytes/.test(event.id))) {
    await page.goto(`${site.url}/events/shop/${encodeURIComponent(id)}`)
    await page.getByRole('button', { name: 'Show the payload' }).click()
    await page.getByText('SHA-256').waitFor()
    await page
      .getByRole('radio', { name: 'Raw' })
      .or(page.getByRole('button', { name: 'Raw' }))
      .first()
      .click()
    // The page answers at once: nothing of 1 MiB or 10,000 keys holds it.
    const startedAt = Date.now()
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => resolve()))')
    expect([id, Date.now() - startedAt < 30_000]).toEqual([id, true])
    expect(await page.locator('main script, main iframe, main a[href^="javascript:"]').count()).toBe(0)
  }
})

test('the dashboard works below a path of an Express app', async () => {
  const mounted = await startSite('SQLite', { mount: '/ops/hooks' })
  try {
    await mounted.post({ id: 'evt_below' })
    const page = await open('/ops/hooks/events', {}, mounted)
    await page.getByRole('link', { name: 'evt_below' }).click()
    await page.waitForURL('**/ops/hooks/events/shop/evt_below')
    await page.getByRole('status', { name: 'Verdict' }).waitFor()
    await page.reload()
    await page.getByRole('status', { name: 'Verdict' }).waitFor()
  } finally {
    await mounted.stop()
  }
})

test('an empty page of a search that the server has stopped is not shown as the end of the list', async () => {
  const page = await open('/events')
  await page.getByRole('link', { name: 'evt_paid' }).waitFor()
  // As the server answers while it searches a backlog. The later requests are answered by the real one.
  let stopped = 0
  const stops = (many: number) =>
    page.route(/\/api\/events\?.*state=succeeded/, async (route) => {
      const url = new URL(route.request().url())
      url.searchParams.delete('cursor')
      if (++stopped > many) await route.continue({ url: url.href })
      else await route.fulfill({ json: { events: [], next: `older-${stopped}`, cut: true } })
    })
  await stops(3)
  await page.goto(`${site.url}/events?state=succeeded&live=off`)
  await page.getByRole('link', { name: 'evt_paid' }).waitFor()
  expect(stopped).toBe(4)

  stopped = 0
  await page.unrouteAll()
  await stops(15)
  await page.goto(`${site.url}/events?state=succeeded&live=off`)
  await page.getByText('No event matches so far').waitFor()
  expect(stopped).toBe(11)
  await page.getByRole('button', { name: 'Search older events' }).click()
  await page.getByRole('link', { name: 'evt_paid' }).waitFor()
})
