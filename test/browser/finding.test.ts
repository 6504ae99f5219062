/** An event is found from whatever somebody has in hand, and its page answers why. On both stores. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { launch, openPage, type Site, startSite, violations, type Watched } from './support.js'

/** The tests are compiled without the types of the browser. */
interface Sized {
  readonly clientWidth: number
  readonly scrollWidth: number
}

const phone = { viewport: { width: 375, height: 720 }, hasTouch: true, isMobile: true }

let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser.close())

const opened: Watched[] = []
async function open(site: Site, path: string, options: Parameters<typeof openPage>[3] = {}): Promise<Page> {
  const watched = await openPage(browser, site, path, options)
  opened.push(watched)
  watched.page.on('console', (message) => {
    if (message.type() === 'error') watched.problems.push(`console: ${message.text()}`)
  })
  return watched.page
}
afterEach(async () => {
  const problems = opened.flatMap((watched) => watched.problems)
  for (const watched of opened.splice(0)) await watched.close()
  expect(problems).toEqual([])
})

/** On a busy machine, the first second of a search in payloads may not reach the event. */
async function findsInPayloads(page: Page, id: string): Promise<void> {
  const found = page.getByRole('link', { name: id })
  const further = page.getByRole('button', { name: 'Search older payloads' })
  await found.or(further).first().waitFor()
  while ((await found.count()) === 0) {
    // It is gone while the search goes on, and in the end.
    if ((await further.count()) > 0) await further.click({ timeout: 1_000 }).catch(() => {})
    await found.or(further).first().waitFor()
  }
}

const isDead = ({ dead }: { dead: boolean }) => dead
const invoice = {
  id: 'evt_invoice',
  type: 'order.failed',
  ref: 'in_123',
  data: { customer: { name: 'Jane', email: 'jane@example.com' }, lines: [{ sku: 'a-1' }, { sku: 'a-2' }] },
}

describe.each(['SQLite', 'PostgreSQL'] as const)('on %s', (kind) => {
  let site: Site
  beforeAll(async () => {
    site = await startSite(kind)
  })
  afterAll(() => site.stop())

  test('the first screen gives way to the list, also when the counts come before the event', async () => {
    const page = await open(site, '/')
    await page.getByText('Nothing has been received yet').waitFor()
    const zero = { pending: 0, processing: 0, retrying: 0, dead: 0, succeeded: 0, ignored: 0 }
    const stats = { sources: [{ source: 'shop', recorded: 1, ...zero }] }
    await page.route('**/api/stream', (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: `event: stats\ndata: ${JSON.stringify(stats)}\n\n`,
      }),
    )
    await page.reload()
    await page.waitForURL('**/events')
  })

  test('a button on the first screen sends an event, and a viewer has no filter for errors', async () => {
    const page = await open(site, '/')
    await page.getByText('Nothing has been received yet').waitFor()
    await page.getByText('curl ').first().waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await page.getByRole('link', { name: /^test_/ }).waitFor()
    const viewer = await open(site, '/events', { role: 'viewer' })
    await viewer.getByRole('link', { name: /^test_/ }).waitFor()
    expect(await viewer.getByLabel('Error').count()).toBe(0)
  })

  test('customer jane@example.com says that invoice in_123 was not processed: either text leads to the answer', async () => {
    await site.post(invoice)
    for (let i = 0; i < 300; i += 20)
      await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          site.post({ id: `evt_other_${i + n}`, ref: `in_${1_000 + i + n}` }),
        ),
      )
    await site.until('/api/events/shop/evt_invoice', isDead)
    const page = await open(site, '/')
    const answer = async () => {
      await page.waitForURL('**/events/shop/evt_invoice')
      await page.getByRole('status', { name: 'Verdict' }).getByText('a dead letter').waitFor()
      await page.getByText('the ledger answered 503 for evt_invoice').first().waitFor()
    }
    await page.getByLabel('Find an event').fill('in_123')
    await page.keyboard.press('Enter')
    await answer()

    await page.getByLabel('Find an event').fill('jane@example.com')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Search payloads for this' }).click()
    await findsInPayloads(page, 'evt_invoice')
    const found = new URL(page.url())
    expect(Object.fromEntries(found.searchParams)).toEqual({
      path: '**',
      op: 'contains',
      value: 'jane@example.com',
    })
    expect(await page.getByRole('link', { name: /^evt_other/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'evt_invoice' }).click()
    await answer()
  })

  test('errors are a column and a filter, matches are counted, and the address has it all', async () => {
    const page = await open(site, '/events?state=failed&dead=true')
    await page.getByRole('row', { name: /evt_invoice.*the ledger answered 503/ }).waitFor()
    await page.getByRole('columnheader', { name: 'Error' }).waitFor()
    const tally = page.getByRole('status', { name: 'Number of events' })
    await tally.getByText('1 event').waitFor()
    await page.getByLabel('Error').fill('no such error')
    await page.keyboard.press('Enter')
    await page.getByText('No event matches').waitFor()
    await tally.getByText('0 events').waitFor()
    await page.getByLabel('Error').fill('answered 503')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'evt_invoice' }).waitFor()
    expect(new URL(page.url()).searchParams.get('reasonLike')).toBe('*answered 503*')

    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Save this view' }).click()
    await page.getByLabel('Name of the view').fill('Ledger down')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.goto(`${site.url}/events`)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Ledger down' }).click()
    await page.getByRole('link', { name: 'evt_invoice' }).waitFor()
    expect(await page.getByLabel('Error').inputValue()).toBe('answered 503')
  })

  test('a range of times is chosen by hand, or drawn over the chart', async () => {
    const page = await open(site, '/events')
    await page.getByRole('link', { name: 'evt_other_299' }).waitFor()
    await page.getByLabel('Received').selectOption('range')
    await page.getByLabel('Before').fill('2020-01-01T00:00:00')
    await page.keyboard.press('Enter')
    await page.getByText('No event matches').waitFor()
    expect(new URL(page.url()).searchParams.get('to')).toMatch(/^20(19|20)-.*Z$/)
    await page.getByLabel('Before').fill('2220-01-01T00:00:00')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'evt_other_299' }).waitFor()

    await page.goto(`${site.url}/?window=1h`)
    const over = page.locator('.u-over')
    await over.waitFor()
    const { x, y, width, height } = (await over.boundingBox())!
    await page.mouse.move(x + width * 0.2, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width * 0.7, y + height / 2, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/\/events\?from=/)
    const { searchParams } = new URL(page.url())
    const [from, to] = ['from', 'to'].map((name) => Date.parse(searchParams.get(name)!))
    expect([to! > from!, to! - from! < 3_600_000]).toEqual([true, true])
    await page.getByLabel('From').waitFor()
  })

  test('while somebody types, the box suggests events, types and the search in payloads', async () => {
    const page = await open(site, '/events')
    const box = page.getByLabel('Find an event')
    await box.fill('evt_inv')
    await page.getByRole('option', { name: /evt_invoice.*dead letter/ }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/events/shop/evt_invoice')
    await box.fill('order.fai')
    await page.getByRole('option', { name: /All events of this type/ }).click()
    await page.waitForURL('**/events?type=order.failed')
    await box.fill('jane@example.com')
    await page.getByRole('option', { name: /Search payloads/ }).click()
    await findsInPayloads(page, 'evt_invoice')
    const operator = await open(site, '/events', { role: 'operator' })
    await operator.getByLabel('Find an event').fill('evt_inv')
    await operator.getByRole('option', { name: /evt_invoice/ }).waitFor()
    expect(await operator.getByRole('option', { name: /Search payloads/ }).count()).toBe(0)
  })

  test('the list is where it was when somebody comes back to it', async () => {
    const page = await open(site, '/events?type=order.paid&since=24h')
    await page.getByRole('link', { name: 'evt_other_299' }).waitFor()
    const list = `document.querySelector('[aria-label="List of events"] > div').scrollTop`
    const top = () => page.evaluate<number>(list)
    // Each time the next page is loaded.
    await expect.poll(() => page.evaluate(`${list} = 7_000`).then(top), { timeout: 45_000 }).toBe(7_000)
    // A row that is in view at 7,000: to click another one would scroll the list.
    const row = page.locator('[aria-rowindex="202"] a')
    const id = (await row.textContent())!
    await row.click()
    await page.getByRole('status', { name: 'Verdict' }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: id, exact: true }).waitFor()
    await expect.poll(top).toBe(7_000)
  })

  test('a long type is cut before its verb, and a phone shows source and reference', async () => {
    const type = 'customer_service.subscription_schedule.very_long_family_of_names.canceled'
    await site.post({ id: 'evt_long', type, ref: 'sub_1' }, 'bank')
    for (const options of [{}, { ...phone, colorScheme: 'dark' as const }]) {
      const page = await open(site, '/events?source=bank', options)
      await page.getByRole('link', { name: 'evt_long' }).waitFor()
      const verb = page.getByText('.canceled', { exact: true })
      const [shown, all] = await verb.evaluate(({ clientWidth, scrollWidth }: Sized) => [
        clientWidth,
        scrollWidth,
      ])
      expect(shown).toBe(all)
      for (const text of ['bank', 'sub_1'])
        expect(await page.getByRole('cell', { name: text, exact: true }).first().isVisible()).toBe(true)
      expect(await violations(page)).toEqual([])
    }
  })

  test('the page of an event has exact times, the line that threw, and what each consumer did', async () => {
    const page = await open(site, '/events/shop/evt_invoice', { colorScheme: 'dark' })
    await page
      .getByText(/^at .*dashboard-child\.mjs:\d+:\d+/)
      .first()
      .waitFor()
    const dead = page.getByRole('listitem').filter({ hasText: 'Became a dead letter' })
    expect(await dead.textContent()).toMatch(/\d\d:\d\d:\d\d\.\d{3} \+0 ms$/)
    await page.getByRole('button', { name: 'Show the payload' }).click()
    await page.getByLabel('Search in the payload').fill('a-')
    await page.getByText('1 of 2', { exact: true }).waitFor()
    await page.getByRole('treeitem', { name: /a-1/, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('treeitem', { name: /a-2/, selected: true }).waitFor()
    expect(await violations(page)).toEqual([])

    await site.post({ id: 'evt_club' }, 'club')
    await site.until('/api/events/club%2Fmail/evt_club', isDead)
    await page.goto(`${site.url}/events/club/evt_club`)
    await page.getByRole('row', { name: /^main Succeeded/ }).waitFor()
    await page
      .getByRole('row', { name: /^mail Dead letter/ })
      .getByRole('link')
      .click()
    await page.getByText('the mail server is away').first().waitFor()
    await page.getByRole('row', { name: /^main Succeeded/ }).waitFor()
  })

  test('a body is formatted, checked and compared before its copy runs', async () => {
    const page = await open(site, '/events/shop/evt_invoice')
    await page.getByRole('button', { name: 'Show the payload' }).click()
    await page.getByRole('button', { name: 'Replay with an edited body' }).click()
    const dialog = page.getByRole('dialog')
    const body = dialog.getByLabel('Body')
    const sent = await body.inputValue()
    await dialog.getByRole('button', { name: 'Format' }).click()
    expect(await body.inputValue()).toContain('\n  "ref": "in_123",\n')
    await body.fill(`${sent.slice(0, -1)},}`)
    await dialog.getByText('This is not valid JSON').waitFor()
    await body.fill(sent.replace('order.failed', 'order.paid'))
    await dialog.getByRole('button', { name: 'Changes' }).click()
    await dialog.getByText('− ').filter({ hasText: '"type": "order.failed"' }).first().waitFor()
    await dialog.getByText('+ ').filter({ hasText: '"type": "order.paid"' }).first().waitFor()
    expect(await violations(page)).toEqual([])
  })
})
