/** The page of an event in a real browser, on both stores: a person decides about effects, and reads the reply of the handler. */
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { launch, openPage, type Site, startSite, tokenOf, violations, type Watched } from './support.js'

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

  interface Shown {
    readonly dead: boolean
    readonly reason: string | null
    readonly attempts: number
  }
  const dead = (id: string) => site.until<Shown>(`/api/events/shop/${id}`, (event) => event.dead)

  test('a person says that an effect did not happen, or what its result is, and the event goes on', async () => {
    for (const id of ['evt_not', 'evt_did']) {
      await site.post({ id, type: 'order.charge' })
      await dead(id)
    }
    const viewer = await open('/events/shop/evt_not', { role: 'viewer' })
    await viewer.getByText('Started, end unknown').waitFor()
    expect(await viewer.getByRole('button', { name: 'Decide' }).count()).toBe(0)

    const page = await open('/events/shop/evt_not', { role: 'operator' })
    const verdict = page.getByRole('status', { name: 'Verdict' })
    await verdict.getByText('decide about it below').waitFor()
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Decide about effects' }).click()
    await dialog.getByText('from failed to pending').waitFor()
    const confirm = dialog.getByRole('button', { name: 'Retry with this answer' })
    // `mail` is finished: only the other one is asked about.
    expect(await dialog.getByRole('group').count()).toBe(1)
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByRole('group', { name: 'charge' }).getByLabel('It did not happen: do it again').check()
    await dialog.getByLabel(/Note/).fill('the bank has no such payment')
    expect(await violations(page)).toEqual([])
    await confirm.click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByText('Ignored by the handler: charged as ch_again').waitFor()
    await page.getByText('the bank has no such payment').waitFor()
    await page.getByRole('button', { name: 'Decide' }).waitFor({ state: 'detached' })

    await page.goto(`${site.url}/events/shop/evt_did`)
    await page.getByRole('button', { name: 'Decide about effects' }).click()
    await dialog.getByLabel('It happened').check()
    const result = dialog.getByLabel('Its result (JSON)')
    await result.fill('ch_bank')
    await dialog.getByText('a text has quotes').waitFor()
    await result.fill('null')
    await dialog.getByText('null means that it did not happen').waitFor()
    expect(await confirm.isDisabled()).toBe(true)
    // Larger than the body of an action without effects.
    await result.fill(JSON.stringify({ id: 'ch_bank', lines: 'x'.repeat(20_000) }))
    await confirm.click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByText('Ignored by the handler: charged as ch_bank').waitFor()
  })

  test('an answer is refused when somebody has decided, and forgotten when the effect was begun again', async () => {
    await site.post({ id: 'evt_both', type: 'order.charge' })
    await dead('evt_both')
    const page = await open('/events/shop/evt_both', { role: 'operator' })
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Decide about effects' }).click()
    await dialog.getByLabel('It did not happen: do it again').check()
    const retry = (body: object) =>
      fetch(`${site.url}/api/events/shop/evt_both/retry`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tokenOf('operator')}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    // A retry without an answer: nothing was decided, but the handler has run.
    expect((await retry({})).status).toBe(200)
    await site.until<Shown>('/api/events/shop/evt_both', (event) => event.dead && event.attempts === 2)
    const confirm = dialog.getByRole('button', { name: 'Retry with this answer' })
    await expect.poll(() => dialog.getByLabel('It did not happen: do it again').isChecked()).toBe(false)
    expect(await confirm.isDisabled()).toBe(true)

    // What this page has not heard of yet is judged by the server.
    await page.route('**/api/events/shop/evt_both*', (route) => route.abort())
    await page.route('**/api/stream*', (route) => route.abort())
    await dialog.getByLabel('It did not happen: do it again').check()
    await confirm.and(page.locator(':enabled')).waitFor()
    expect((await retry({ effects: { charge: { id: 'ch_other' } } })).status).toBe(200)
    await site.until<Shown>('/api/events/shop/evt_both', ({ reason }) => reason === 'charged as ch_other')
    await confirm.click()
    await dialog.getByText('is not one whose end is unknown').waitFor()
    await page.unrouteAll()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Ignored by the handler: charged as ch_other').waitFor()
  })

  test('the reply of an inline handler is shown with the payload, as text and to nobody else', async () => {
    const path = '/api/events/desk/evt_reply'
    const delivery = JSON.stringify({
      id: 'evt_reply',
      type: 'a',
      answer: '<img src=x onerror=alert(1)>\u202e',
    })
    const sent = await fetch(`${site.url}/webhooks/desk`, { method: 'POST', body: delivery })
    expect([sent.status, sent.headers.get('x-desk')]).toEqual([201, '7'])
    const reads = async () =>
      (await site.until<{ audits: object[] }>('/api/audits?verb=payload&id=evt_reply', () => true)).audits
        .length

    const page = await open('/events/desk/evt_reply')
    const card = page.getByRole('region', { name: 'Reply to the sender' })
    await page.getByRole('button', { name: 'Show the payload and the reply' }).click()
    await card.getByText('HTTP 201').waitFor()
    await card.getByText('x-desk').waitFor()
    // Marks that change the direction of the text are escapes.
    await card.getByText('<img src=x onerror=alert(1)>\\u202e of run 1').waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    expect(await violations(page)).toEqual([])
    expect(await reads()).toBe(1)

    // A replay gives another one.
    await fetch(`${site.url}${path}/replay`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokenOf('operator')}`, 'content-type': 'application/json' },
      body: JSON.stringify({ force: true }),
    })
    await card.getByText('of run 2').waitFor()
    expect(await reads()).toBeGreaterThan(1)

    for (const role of ['operator', 'viewer'] as const) {
      const other = await open('/events/desk/evt_reply', { role })
      await other.getByText('Your role does not include payloads').waitFor()
      expect(await other.getByRole('region', { name: 'Reply to the sender' }).count()).toBe(0)
      expect((await other.request.get(`${site.url}${path}/payload`)).status()).toBe(403)
    }
  })
})
