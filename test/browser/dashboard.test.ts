/** The dashboard in a real browser, against a real server in its own process, on PostgreSQL. `screens.test.ts` uses SQLite. */
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { launch, openPage, type Site, startSite, tokenOf, type Watched } from './support.js'

let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser.close())

const opened: Watched[] = []
async function open(...args: Parameters<typeof openPage> extends [unknown, ...infer Rest] ? Rest : never) {
  const watched = await openPage(browser, ...args)
  opened.push(watched)
  return watched.page
}
afterEach(async () => {
  const problems = opened.flatMap((watched) => watched.problems)
  for (const watched of opened.splice(0)) await watched.close()
  expect(problems).toEqual([])
})

let site: Site
beforeAll(async () => {
  site = await startSite('PostgreSQL')
})
afterAll(() => site.stop())

test('an empty log shows how to send, and comes alive with the first delivery', async () => {
  const page = await open(site, '/events')
  await page.getByText('Nothing has been received yet').waitFor()
  await page.getByText(`${site.url}/webhooks/`).first().waitFor()
  await page.getByText('npx hookonce send').first().waitFor()
  await site.post({ id: 'evt_first', ref: 'cus_1' })
  await page.getByRole('link', { name: 'evt_first' }).waitFor()
})

test('a token signs in, a wrong one does not, and signing out ends it', async () => {
  const page = await open(site, '/', { role: null })
  await page.getByLabel('Token').fill('nobody-knows-this')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Token').fill(tokenOf('admin'))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByText('the-admin').waitFor()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  expect((await page.request.get(`${site.url}/api/events`)).status()).toBe(401)
})

test('a copied curl command has nothing that a terminal would execute', async () => {
  await site.post('{"id":"evt_curl","type":"order.paid",\n"note":"\u009b201~ \u202e"}')
  const page = await open(site, '/events/shop/evt_curl', {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await page.getByRole('button', { name: 'Show the payload' }).click()
  await page.getByRole('button', { name: 'curl' }).click()
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
  await expect.poll(copied).toMatch(/--data-binary @-$/)
  expect(await copied()).toMatch(/^[\n -~]*$/)
  await page.getByRole('button', { name: 'Copy body' }).click()
  await expect.poll(copied).toContain('"note":"201~ "')
})

test('a pasted id opens its event, with a verdict in words', async () => {
  await site.post({ id: 'evt_pasted', ref: 'cus_2' })
  await site.post({ id: 'evt_pasted', ref: 'cus_2' })
  await site.until<{ state: string; deliveries: number }>(
    '/api/events/shop/evt_pasted',
    ({ state, deliveries }) => state === 'succeeded' && deliveries === 2,
  )
  const page = await open(site, '/')
  const box = page.getByLabel('Find an event')
  await box.waitFor()
  await page.keyboard.press('/')
  const focused = () => page.evaluate('document.activeElement.getAttribute("aria-label")')
  await expect.poll(focused).toBe('Find an event')
  await box.fill('https://dashboard.example.com/events/evt_pasted?tab=1')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/events/shop/evt_pasted')
  const verdict = page.getByRole('status', { name: 'Verdict' })
  await verdict.getByText('Handled once').waitFor()
  expect(await verdict.textContent()).toContain('1 duplicate')
  await page.getByText('mail').first().waitFor()
})

test('every filter is in the address, and the address restores it', async () => {
  await site.post({ id: 'evt_bank' }, 'bank')
  const page = await open(site, '/events?source=bank')
  await page.getByRole('link', { name: 'evt_bank' }).waitFor()
  expect(await page.getByRole('link', { name: 'evt_pasted' }).count()).toBe(0)
  expect(await page.getByLabel('Source').inputValue()).toBe('bank')
  await page.getByLabel('Source').selectOption('shop')
  await page.getByRole('link', { name: 'evt_pasted' }).waitFor()
  expect(new URL(page.url()).searchParams.get('source')).toBe('shop')
  await page.goBack()
  await page.getByRole('link', { name: 'evt_bank' }).waitFor()
})

test('a value that no filter has is not asked for, and leaves the address with the next choice', async () => {
  const page = await open(site, '/events?source=bank&state=broken&colour=red')
  await page.getByRole('link', { name: 'evt_bank' }).waitFor()
  expect(await page.getByLabel('State').inputValue()).toBe('')
  await page.getByLabel('Source').selectOption('shop')
  await page.getByRole('link', { name: 'evt_pasted' }).waitFor()
  expect(new URL(page.url()).search).toBe('?source=shop')
})

test('new events appear by themselves, and never move the row under the pointer', async () => {
  const page = await open(site, '/events?source=shop')
  await page.getByRole('link', { name: 'evt_pasted' }).waitFor()
  await page.mouse.move(5, 5)
  await site.post({ id: 'evt_live_1' })
  await page.getByRole('link', { name: 'evt_live_1' }).waitFor()
  const row = page.getByRole('link', { name: 'evt_pasted' })
  await row.hover()
  const before = await row.boundingBox()
  await site.post({ id: 'evt_live_2' })
  await page.getByRole('button', { name: /1 new/ }).waitFor()
  expect(await row.boundingBox()).toEqual(before)
  expect(await page.getByRole('link', { name: 'evt_live_2' }).count()).toBe(0)
  await page.getByRole('button', { name: /1 new/ }).click()
  await page.getByRole('link', { name: 'evt_live_2' }).waitFor()
})

test('a dead letter is retried from its page, after a dry run', async () => {
  await site.post({ id: 'evt_dead_1', type: 'order.failed' })
  await site.until<{ dead: boolean }>('/api/events/shop/evt_dead_1', ({ dead }) => dead)
  const page = await open(site, '/events/shop/evt_dead_1')
  await page.getByText('the ledger answered 503').first().waitFor()
  await page.getByRole('button', { name: 'Retry' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Dry run').waitFor()
  await dialog.getByRole('button', { name: 'Retry', exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
  await site.until<{ attempts: number }>('/api/events/shop/evt_dead_1', ({ attempts }) => attempts === 2)
})

test('dead letters are grouped by error and retried as a group, counted first', async () => {
  await site.post({ id: 'evt_dead_2', type: 'order.failed' })
  await site.until<{ dead: boolean }>('/api/events/shop/evt_dead_2', ({ dead }) => dead)
  await site.until<{ dead: boolean }>('/api/events/shop/evt_dead_1', ({ dead }) => dead)
  const page = await open(site, '/dead-letters')
  await page.getByText('the ledger answered 503').first().waitFor()
  await page
    .getByRole('button', { name: /Retry these/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('2 events match').waitFor()
  // The order begins after five seconds, which may be over before the test has looked.
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 1_000)
  await dialog.getByRole('button', { name: 'Retry 2 events' }).click()
  // Nothing has begun: it can be taken back.
  await dialog.getByText('Nothing has been changed yet').waitFor()
  await dialog.getByRole('button', { name: 'Undo' }).click()
  await dialog.getByRole('button', { name: 'Retry 2 events' }).click()
  type Actions = { actions: { dryRun: boolean }[] }
  const { actions } = await site.until<Actions>('/api/actions', () => true)
  expect(actions.filter(({ dryRun }) => !dryRun)).toEqual([])
  await dialog.getByRole('button', { name: 'Start now' }).click()
  await page.clock.resume()
  await dialog.getByText('Done: 2 events').waitFor()
})

test('all that match are replayed with a dry run, and the rest can be cancelled', async () => {
  const ids = Array.from({ length: 30 }, (_, i) => `evt_many_${i}`)
  for (const id of ids) await site.post({ id, type: 'order.many' })
  const path = '/api/events?type=order.many&state=succeeded&limit=100'
  await site.until<{ events: object[] }>(path, ({ events }) => events.length === ids.length)
  const page = await open(site, '/events?type=order.many&state=succeeded')
  await page.getByRole('link', { name: 'evt_many_29' }).waitFor()
  await page.getByLabel('Select all loaded events').check()
  await page.getByRole('button', { name: 'Choose all that match' }).click()
  // The server works faster than a person can cancel, so the order asks for one event a second.
  await page.route('**/api/events/actions', (route) => {
    const order = route.request().postDataJSON()
    return route.continue({ postData: JSON.stringify(order.dryRun ? order : { ...order, rate: 1 }) })
  })
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('checkbox').check()
  await dialog.getByLabel(/Note/).fill('the ledger was empty')
  await dialog.getByRole('button', { name: 'Replay 30 events' }).click()
  await dialog.getByRole('button', { name: 'Cancel the rest' }).click()
  const said = await dialog.getByText(/^Cancelled after \d+ events?\./).textContent()
  const replayed = Number(/\d+/.exec(said!)![0])
  expect(replayed).toBeGreaterThan(0)
  expect(replayed).toBeLessThan(ids.length)
  type Actions = { actions: { dryRun: boolean; state: string; done: number }[] }
  const { actions } = await site.until<Actions>('/api/actions', ({ actions }) => actions.length > 0)
  expect(actions.find(({ dryRun }) => !dryRun)).toMatchObject({ state: 'cancelled', done: replayed })
  type Runs = { events: { run: number }[] }
  const { events } = await site.until<Runs>(path, ({ events }) => events.length === ids.length)
  expect(events.filter(({ run }) => run === 2).length).toBe(replayed)
})

test('a conflict is shown as a difference of the two contents', async () => {
  await site.post({ id: 'evt_conflict', amount: 100 })
  await site.post({ id: 'evt_conflict', amount: 999 })
  await site.until<{ conflicts: number }>('/api/events/shop/evt_conflict', ({ conflicts }) => conflicts === 1)
  const page = await open(site, '/events/shop/evt_conflict')
  await page.getByRole('button', { name: 'Compare the contents' }).click()
  await page.getByText('− ').filter({ hasText: '"amount": 100' }).first().waitFor()
  await page.getByText('+ ').filter({ hasText: '"amount": 999' }).first().waitFor()
})

test('an operator runs the other content of a conflict, or keeps the first, with a note', async () => {
  type Decided = { run: number; state: string; lastConflict: { decidedAt: string | null } }
  const handled = ({ state }: Decided) => state === 'succeeded'
  for (const id of ['evt_run', 'evt_keep']) {
    await site.post({ id, amount: 100 })
    await site.until<Decided>(`/api/events/shop/${id}`, handled)
    await site.post({ id, amount: 999 })
  }
  const viewer = await open(site, '/events/shop/evt_run', { role: 'viewer' })
  await viewer.getByRole('heading', { name: 'Open conflict' }).waitFor()
  expect(await viewer.getByRole('button', { name: /the other content|the first/ }).count()).toBe(0)

  const page = await open(site, '/events?hasConflict=true', { role: 'operator', colorScheme: 'dark' })
  await page.getByRole('link', { name: 'evt_keep' }).waitFor()
  await page.getByRole('link', { name: 'evt_run' }).click()
  const dialog = page.getByRole('dialog')
  const button = page.getByRole('button', { name: 'Run the other content' })
  await button.focus()
  await page.keyboard.press('Enter')
  await dialog.getByText('forced replay and needs a note').waitFor()
  const confirm = dialog.getByRole('button', { name: 'Run the other content' })
  expect(await confirm.isDisabled()).toBe(true)
  await dialog.getByLabel(/Note/).fill('the second amount is right')
  await confirm.click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByText('the second amount is right').waitFor()
  await button.waitFor({ state: 'hidden' })
  await site.until<Decided>('/api/events/shop/evt_run', (event) => handled(event) && event.run === 2)

  await page.goto(`${site.url}/events/shop/evt_keep`)
  await page.getByRole('button', { name: 'Keep the first' }).click()
  await dialog.getByLabel(/Note/).fill('a test of the sender')
  await dialog.getByRole('button', { name: 'Keep the first' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByText('First content kept by the-operator').waitFor()
  await page.getByText('a test of the sender').waitFor()
  const kept = await site.until<Decided>('/api/events/shop/evt_keep', handled)
  expect([kept.run, kept.lastConflict.decidedAt]).toEqual([1, expect.any(String)])
  await page.goto(`${site.url}/events?hasConflict=true`)
  await page.getByRole('link', { name: 'evt_conflict' }).waitFor()
  expect(await page.getByRole('link', { name: /evt_(run|keep)/ }).count()).toBe(0)
})

test('a decision is about the content that was shown, and is refused when somebody has decided about it', async () => {
  type Event = { state: string; run: number; lastConflict: { hash: string; decidedAt: string | null } }
  const path = '/api/events/shop/evt_changed'
  await site.post({ id: 'evt_changed', amount: 100 })
  await site.until<Event>(path, ({ state }) => state === 'succeeded')
  await site.post({ id: 'evt_changed', amount: 200 })
  const page = await open(site, '/events/shop/evt_changed')
  await page.getByRole('button', { name: 'Compare the contents' }).click()
  await page.getByText('+ ').filter({ hasText: '"amount": 200' }).first().waitFor()
  await page.getByRole('button', { name: 'Keep the first' }).click()
  const dialog = page.getByRole('dialog')
  const confirm = dialog.getByRole('button', { name: 'Keep the first' })
  await confirm.and(page.locator(':enabled')).waitFor()
  const seen = await site.until<Event>(path, ({ lastConflict }) => lastConflict.decidedAt === null)
  await site.post({ id: 'evt_changed', amount: 300 })
  const elsewhere = await fetch(`${site.url}${path}/ignore`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokenOf('operator')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ conflict: seen.lastConflict.hash }),
  })
  expect(elsewhere.status).toBe(200)
  await confirm.click()
  await dialog.getByText('is not open: somebody has decided about it').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('+ ').filter({ hasText: '"amount": 300' }).first().waitFor()
  await page.getByRole('heading', { name: 'Open conflict' }).waitFor()
  const left = await site.until<Event>(path, ({ lastConflict }) => lastConflict.decidedAt === null)
  expect([left.run, left.lastConflict.hash === seen.lastConflict.hash]).toEqual([1, false])
})

test('a conflict in a digit that a JavaScript number cannot hold is shown', async () => {
  await site.post('{"id":"evt_digits","type":"order.paid","account":9007199254740992}')
  await site.post('{"id":"evt_digits","type":"order.paid","account":9007199254740993}')
  await site.until<{ conflicts: number }>('/api/events/shop/evt_digits', ({ conflicts }) => conflicts === 1)
  const page = await open(site, '/events/shop/evt_digits')
  await page.getByRole('button', { name: 'Compare the contents' }).click()
  await page.getByText('− ').filter({ hasText: '"account": 9007199254740992' }).first().waitFor()
  await page.getByText('+ ').filter({ hasText: '"account": 9007199254740993' }).first().waitFor()
})

test('a viewer sees no payload and no action, an operator no payload', async () => {
  const page = await open(site, '/events/shop/evt_dead_1', { role: 'viewer' })
  await page.getByRole('status', { name: 'Verdict' }).waitFor()
  await page.getByText('Your role does not include payloads').waitFor()
  expect(await page.getByRole('button', { name: /^(Retry|Replay|Ignore|Show the payload)/ }).count()).toBe(0)
  expect(await page.content()).not.toContain('the ledger answered')
  const other = await open(site, '/events/shop/evt_dead_1', { role: 'operator' })
  await other.getByRole('button', { name: 'Retry' }).waitFor()
  expect(await other.getByRole('button', { name: 'Replay' }).count()).toBe(0)
  await other.getByText('Your role does not include payloads').waitFor()
})

test('the keyboard alone opens an event, goes to a screen and lists the keys', async () => {
  const page = await open(site, '/events')
  await page.getByRole('link', { name: 'evt_conflict' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/events/shop/*')
  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await page.waitForURL('**/sources')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
})

test('a restart of the server while the page is open is said, and healed without a reload', async () => {
  const page = await open(site, '/events?source=shop')
  await page.getByRole('link', { name: 'evt_conflict' }).waitFor()
  await page.mouse.move(5, 5)
  await site.restart(async () => {
    await page.getByText('The server does not answer').waitFor()
  })
  await page.getByText('Connected again').waitFor()
  await site.post({ id: 'evt_after_restart' })
  await page.getByRole('link', { name: 'evt_after_restart' }).waitFor()
})
