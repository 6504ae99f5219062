/** Why is it waiting? In a real browser, on both stores: in the list, on the page of the event, and the way out. */
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { launch, openPage, type Site, startSite, tokenOf, type Watched } from './support.js'

let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser.close())

describe.each(['SQLite', 'PostgreSQL'] as const)('on %s', (kind) => {
  let site: Site
  beforeAll(async () => {
    site = await startSite(kind)
  })
  afterAll(() => site.stop())

  const opened: Watched[] = []
  async function open(path: string, options: Parameters<typeof openPage>[3] = {}) {
    const watched = await openPage(browser, site, path, options)
    opened.push(watched)
    return watched.page
  }
  afterEach(async () => {
    const problems = opened.flatMap((watched) => watched.problems)
    for (const watched of opened.splice(0)) await watched.close()
    expect(problems).toEqual([])
  })

  async function call(path: string, body: object): Promise<void> {
    const response = await fetch(`${site.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokenOf('operator')}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(response.status, await response.text()).toBe(200)
  }

  interface Shown {
    readonly state: string
    readonly waiting: { readonly kind: string } | null
  }
  const waitsFor = (id: string, wanted: string, source = 'lanes') =>
    site.until<Shown>(`/api/events/${source}/${id}`, ({ waiting }) => waiting?.kind === wanted)

  test('an event behind a failing one says so in the list, and its page links to that one', async () => {
    await site.post({ id: 'evt_head', type: 'order.later', ref: 'in_1' }, 'lanes')
    await waitsFor('evt_head', 'retry')
    await site.post({ id: 'evt_behind', ref: 'in_1' }, 'lanes')
    await waitsFor('evt_behind', 'behind')
    const page = await open('/events?source=lanes')
    await page.getByText('behind evt_head').waitFor()
    await page.getByText(/^retry in \d+ (min|h)$/).waitFor()
    await page.getByRole('link', { name: 'evt_behind' }).click()
    const why = page.getByRole('region', { name: 'Why it waits' })
    await why.getByText(/of the same reference, due in/).waitFor()
    expect(await page.getByText('Next attempt').count()).toBe(0)
    await why.getByRole('link', { name: 'evt_head' }).click()
    await page.waitForURL('**/events/lanes/evt_head')
    await page.getByText('Next attempt').first().waitFor()
  })

  test('a paused event names who paused it, and is handled after a click on Resume', async () => {
    await call('/api/pause', { source: 'shop', type: 'order.*', note: 'the ledger moves' })
    await site.post({ id: 'evt_paused' })
    await waitsFor('evt_paused', 'paused', 'shop')
    const page = await open('/events?source=shop')
    await page.getByText('paused by the-operator').waitFor()
    await page.getByRole('link', { name: 'evt_paused' }).click()
    const why = page.getByRole('region', { name: 'Why it waits' })
    await why.getByText(/shop order\.\* is paused, by the-operator/).waitFor()
    await why.getByRole('button', { name: 'Resume shop order.*' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('Handled once').waitFor()
    await why.waitFor({ state: 'hidden' })
  })

  test('the screens of sources and handlers show a pause with its operator and note, and end it', async () => {
    const page = await open('/sources/shop', { role: 'operator' })
    await page.getByRole('button', { name: 'Pause shop' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('in all processes and after a restart').waitFor()
    await dialog.getByLabel(/Note/).fill('ticket 4711')
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByText(/shop is paused, by the-operator .*: ticket 4711/).waitFor()
    await page.goto(`${site.url}/handlers`)
    await page
      .getByText(/by the-operator .*: ticket 4711/)
      .first()
      .waitFor()
    await page.goto(`${site.url}/sources`)
    await page.getByText(/shop is paused, by the-operator .*: ticket 4711/).waitFor()
    const viewer = await open('/sources', { role: 'viewer' })
    await viewer.getByText(/shop is paused, by the-operator/).waitFor()
    expect(await viewer.getByRole('button', { name: /Resume/ }).count()).toBe(0)
    expect(await viewer.content()).not.toContain('ticket 4711')
    await page.getByRole('button', { name: 'Resume shop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
    await page.getByText(/shop is paused/).waitFor({ state: 'hidden' })
    await site.until<{ pauses: object[] }>('/api/pauses', ({ pauses }) => pauses.length === 0)
  })

  test('the overview counts the oldest event since it was received, and says what it waits for', async () => {
    await call('/api/events/lanes/evt_head/ignore', {})
    await site.until<Shown>('/api/events/lanes/evt_behind', ({ state }) => state === 'succeeded')
    const page = await open('/')
    const tile = page.getByRole('link', { name: /Oldest unprocessed/ })
    await tile.getByText('None').waitFor()
    await call('/api/pause', { source: 'shop' })
    await site.post({ id: 'evt_old' })
    await waitsFor('evt_old', 'paused', 'shop')
    await page.reload()
    await tile.getByText('paused by the-operator').waitFor()
    await call('/api/resume', { source: 'shop' })
  })
})
