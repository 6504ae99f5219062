/** Where people see it: the admin API, metrics, alerts and the command. */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from 'hookonce'
import { metricsText, startAlerts } from 'hookonce/telemetry'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runReconcile } from '#dist/reconcile/run.js'
import { type RunningAdmin, startAdmin } from '../server/support.js'
import { type Folder, freshFolder } from '../support/cli.js'
import { onLog, signal } from '../support/processing.js'
import { apiKey, HOUR_MS, type Sender, secret, stripeInbox, stripeSender } from './support.js'

let sender: Sender
let admin: RunningAdmin | undefined
let folder: Folder | undefined
beforeEach(async () => {
  sender = await stripeSender()
})
afterEach(async () => {
  await Promise.all([sender.fake.close(), admin?.stop(), folder?.remove()])
  admin = undefined
  folder = undefined
})

onLog('SQLite', (bench) => {
  test('the admin API compares, audits who asked, and shows how complete a source is', async () => {
    const inbox = stripeInbox(bench, sender)
    const event = sender.happens(HOUR_MS)
    admin = await startAdmin(inbox)
    expect(await admin.json('GET', '/api/sources/stripe')).toMatchObject({
      reconcile: { problem: null, every: null, summary: null, last: null },
    })
    const report = await admin.json('POST', '/api/sources/stripe/reconcile', { since: '2h' })
    expect(report).toMatchObject({ listed: 1, missing: 1, recovered: 1, state: 'complete' })
    expect(await admin.json('GET', '/api/sources/stripe/reconciles')).toEqual({ reports: [report] })
    const { reconcile } = (await admin.json('GET', '/api/sources/stripe')) as { reconcile: object }
    expect(reconcile).toMatchObject({ summary: { missing: 0, extra: 0, completeUntil: report.until } })
    const { audits } = (await admin.json('GET', '/api/audits?verb=reconcile')) as { audits: object[] }
    expect(audits).toMatchObject([{ actor: 'the-admin', source: 'stripe', note: 'since 2h' }])
    expect(await admin.json('GET', `/api/events/stripe/${event.id}`)).toMatchObject({ origin: 'backfill' })
    const refused = await admin.call('POST', '/api/sources/stripe/reconcile', { body: { since: 'soon' } })
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { detail: expect.stringContaining('since') },
    ])
  })

  test('a viewer does not see what the sender or the store said', async () => {
    const inbox = stripeInbox(bench, sender)
    sender.happens(HOUR_MS)
    sender.fake.next.push(undefined, { status: 403, body: { error: { message: 'kumquat' } } })
    await expect(inbox.reconcile('stripe')).rejects.toThrow('kumquat')
    admin = await startAdmin(inbox)
    const path = '/api/sources/stripe/reconciles'
    expect(await (await admin.call('GET', path, { role: 'operator' })).text()).toContain('kumquat')
    expect(await (await admin.call('GET', path, { role: 'viewer' })).text()).not.toContain('kumquat')
  })

  test('a run whose process was killed is shown as interrupted within a minute', async () => {
    const inbox = stripeInbox(bench, sender)
    sender.happens(HOUR_MS)
    const report = { ...(await inbox.reconcile('stripe')), state: 'running', finishedAt: null }
    const store = bench.store()
    await store.reconciles.note({ id: report.id, source: 'stripe', report: JSON.stringify(report) })
    expect(await inbox.reports()).toMatchObject([{ state: 'running' }])
    await bench.log.sql(`update log.reconciles set updated_at = updated_at - 46000`)
    expect(await inbox.reports()).toMatchObject([
      { state: 'failed', error: 'It was interrupted: its process ended. Run it again.' },
    ])
  })

  /** It renews its report all the time, also before it begins. */
  function longRun(store: Store, begin: Promise<void>, insist = async () => {}) {
    const now = Date.now()
    return runReconcile(
      {
        store,
        name: 'stripe',
        source: sender.source(),
        laneOf: () => null,
        recorded() {},
        handled: () => begin.then(() => []),
      },
      {
        ...{ id: randomUUID(), by: 'request', dryRun: false, startedAt: now, notBefore: null },
        range: { since: now - HOUR_MS, until: now - 600_000 },
        signal: AbortSignal.timeout(60_000),
        insist,
        renewMs: 10,
      },
    )
  }

  test('a run that takes long is shown as running until it ends', async () => {
    const inbox = stripeInbox(bench, sender)
    const held = signal()
    const store = bench.store()
    await store.migrate()
    const run = longRun(store, held.wait)
    const shown = async () => (await inbox.reports())[0]?.state
    await expect.poll(shown).toBe('running')
    for (let i = 0; i < 2; i++) {
      await bench.log.sql('update log.reconciles set updated_at = updated_at - 46000')
      await expect.poll(shown).toBe('running')
    }
    held.give()
    expect(await run).toMatchObject({ state: 'complete' })
    expect(await shown()).toBe('complete')
  })

  test('a run writes its report one after the other, so that a slow renewal does not come last', async () => {
    const store = bench.store()
    await store.migrate()
    const renewing = signal()
    const released = signal()
    const states: string[] = []
    let [writes, most] = [0, 0]
    const slow: Store = {
      ...store,
      reconciles: {
        ...store.reconciles,
        async note(run) {
          writes += 1
          most = Math.max(most, writes)
          // The first after the beginning is a renewal.
          if (states.push(JSON.parse(run.report).state) === 2) {
            renewing.give()
            await released.wait
          }
          await store.reconciles.note(run)
          writes -= 1
        },
      },
    }
    await longRun(slow, renewing.wait, async () => released.give())
    expect([most, states.at(-1)]).toEqual([1, 'complete'])
  })

  test('metrics and alerts tell what is still missing, and how old the last complete window is', async () => {
    const real = bench.store()
    const refusing: Store = {
      ...real,
      record: async (deliveries) =>
        deliveries.map(() => [{ status: 'refused', code: 'EVENT_REFUSED', detail: 'the store refused it' }]),
    }
    const { inbox } = bench.inbox({ store: refusing, sources: { stripe: sender.source() } })
    expect(await metricsText(inbox)).not.toContain('hookonce_reconcile_missing')
    sender.happens(HOUR_MS)
    const report = await inbox.reconcile('stripe')
    expect(report).toMatchObject({ missing: 1, recovered: 0, state: 'complete' })
    expect(report.lacking).toMatchObject([{ why: 'the store refused it' }])
    const notices: { alert: string; sources: object }[] = []
    const alerts = startAlerts(inbox, {
      missing: { above: 0 },
      completeAge: { above: '30m' },
      notify: (notice) => void notices.push(notice),
    })
    // The metrics of a moment ago are used again for a moment.
    await expect.poll(() => metricsText(inbox)).toContain('hookonce_reconcile_missing{source="stripe"} 1')
    await alerts.check()
    alerts.stop()
    expect(notices).toMatchObject([
      { alert: 'missing', sources: { stripe: 1 } },
      { alert: 'completeAge', text: expect.stringContaining('seconds ago') },
    ])
    const age = /hookonce_reconcile_complete_age_seconds\{source="stripe"\} (\d+)/.exec(
      await metricsText(inbox),
    )
    expect(Number(age![1])).toBeGreaterThan(HOUR_MS / 1_000 - 60)
  })
})

test('the command compares the sources of the configuration, and tells by its exit code what is missing', async () => {
  folder = freshFolder()
  const config = `import { defineConfig, env } from 'hookonce'
import { stripe } from 'hookonce/providers'
export default defineConfig({
  store: 'sqlite:events.db',
  sources: {
    stripe: stripe({ secret: env('SECRET'), apiKey: env('API_KEY'), baseUrl: '${sender.fake.url}' }),
    shop: stripe({ secret: env('OTHER_SECRET') }),
  },
})`
  writeFileSync(join(folder.path, 'hookonce.config.mjs'), config)
  const env = { SECRET: secret, OTHER_SECRET: `${secret}2`, API_KEY: apiKey }
  const event = sender.happens(HOUR_MS)
  const dry = await folder.run(['reconcile', 'stripe', '--since', '2h', '--dry-run', '--json'], env)
  expect([dry.stderr, dry.code]).toEqual(['', 0])
  expect(JSON.parse(dry.stdout)).toMatchObject({ missing: 1, recovered: 0, dryRun: true })
  const all = await folder.run(['reconcile', '--since', '2h'], env)
  expect(all.code).toBe(0)
  expect(all.stdout).toMatch(/stripe: .*nothing is missing now/)
  expect(all.stdout).toContain('invoice.paid')
  const last = await folder.run(['reconcile', '--last', '--json'], env)
  expect(JSON.parse(last.stdout)).toMatchObject({ reports: [{ source: 'stripe', recovered: 1 }] })
  const shown = await folder.run(['events', 'show', event.id], env)
  expect(shown.stdout).toMatch(/origin +not delivered: reconcile read it/)
  const shop = await folder.run(['reconcile', 'shop'], env)
  expect([shop.code, shop.stderr]).toEqual([1, expect.stringMatching(/give stripe\(\{ apiKey \}\)/)])
  const none = await folder.run(['reconcile', 'stripe'], { ...env, API_KEY: 'whsec_0123456789abcdef' })
  expect(none.stderr).toContain('not the signing secret')
  const wrong = await folder.run(['reconcile', 'stripe', '--since', 'soon'], env)
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('such as 2h')])
  for (const { stdout, stderr } of [dry, all, last, shop, none]) expect(stdout + stderr).not.toContain(apiKey)
})

test('the demonstration needs nothing and shows that nothing is lost or doubled', async () => {
  folder = freshFolder()
  const { code, stdout, stderr } = await folder.run(['reconcile', '--demo', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ listed: 200, known: 190, missing: 10, recovered: 10, extra: 0 })
  expect(stderr).toMatch(/has run for 200 events, once for each/)
  expect(code).toBe(0)
})
