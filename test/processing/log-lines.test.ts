/** What processing logs: the error of a failed handler, redacted, and the lines of `ctx.log` with their event. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { HookonceError, permanent, type Store } from 'hookonce'
import { hmac } from 'hookonce/providers'
import { expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { secretOf } from '../support/inboxes.js'
import { onLog, post, signal } from '../support/processing.js'

const run = promisify(execFile)
const secret = secretOf('log lines')
const email = 'ada.lovelace@example.org'

onLog('SQLite', (bench) => {
  test('a failed handler is logged with its error and the place in the code, and both are stored', async () => {
    const { inbox, lines } = bench.inbox()
    inbox.on('shop', '*', (event) => {
      throw (event.payload as { total: { missing: undefined } }).total.missing
        ? new Error('not reached')
        : permanent(new TypeError('cannot read the order'))
    })
    await post(inbox, { id: 'e1', type: 'order.paid', total: {} })
    await inbox.drain()
    expect(lines.find(({ msg }) => msg.includes('attempt failed'))).toMatchObject({
      level: 'warn',
      source: 'shop',
      eventId: 'e1',
      type: 'order.paid',
      attempt: 1,
      error: 'TypeError: cannot read the order',
      place: expect.stringMatching(/^at .*log-lines\.test\.ts:\d+:\d+\)?$/),
    })
    expect(await inbox.events.attempts({ source: 'shop', id: 'e1' })).toMatchObject([
      {
        detail: 'TypeError: cannot read the order',
        place: lines.find(({ msg }) => msg.includes('failed'))!.place,
      },
    ])
  })

  test('the logged error has no secret, no credential and no value at a path of redact', async () => {
    const sources = {
      shop: hmac({
        secret,
        header: 'x-signature',
        id: 'json:id',
        type: 'json:type',
        reference: 'json:ref',
      }),
    }
    const { inbox, lines } = bench.inbox({ sources, redact: { paths: ['customer.email'] } })
    inbox.on('shop', '*', () => {
      throw permanent(
        new Error(
          `signed with ${secret}, key sk_live_51Habcdefghijk, postgres://u:hunter22@db/x, for ${email}\n    at ${email} (/app/a.js:1:1)`,
        ),
      )
    })
    const source = wholeInbox(inbox).sources.get('shop')!
    const body = Buffer.from(JSON.stringify({ id: 'e1', type: 'order.paid', customer: { email } }))
    await inbox.receive(
      'shop',
      await source.sign({ method: 'POST', url: '/', headers: {}, body, now: Date.now() }),
    )
    await inbox.drain()
    const line = lines.find(({ msg }) => msg.includes('attempt failed'))
    expect(line?.error).toContain('signed with ***')
    for (const kept of [secret, 'sk_live_51Habcdefghijk', 'hunter22', email, 'lovelace'])
      expect(JSON.stringify(lines)).not.toContain(kept)
  })

  test('an error of any length is logged within a limit', async () => {
    const { inbox, lines } = bench.inbox()
    inbox.on('shop', '*', () => {
      throw permanent('x'.repeat(100_000))
    })
    await post(inbox, { id: 'e1', type: 'order.paid' })
    await inbox.drain()
    const line = lines.find(({ msg }) => msg.includes('attempt failed'))
    expect(String(line?.error).length).toBeGreaterThan(1_000)
    expect(JSON.stringify(line).length).toBeLessThan(4_096)
  })

  test('lines of ctx.log carry source, event id, type and attempt', async () => {
    const { inbox, lines } = bench.inbox()
    inbox.on('shop', '*', (_, ctx) => {
      ctx.log.info({ order: 7 }, 'paid')
      if (ctx.attempt === 1) throw new Error('once more')
    })
    await post(inbox, { id: 'e1', type: 'order.paid' })
    await inbox.drain()
    await expect
      .poll(async () => {
        await inbox.drain()
        return lines.filter(({ msg }) => msg === 'paid')
      })
      .toEqual(
        [1, 2].map((attempt) => ({
          source: 'shop',
          eventId: 'e1',
          type: 'order.paid',
          attempt,
          order: 7,
          level: 'info',
          msg: 'paid',
        })),
      )
  })

  test('lines of a batch carry the source and the number of events', async () => {
    const { inbox, lines } = bench.inbox()
    inbox.onBatch('shop', '*', (_, ctx) => ctx.log.info({}, 'batch'))
    for (const id of ['e1', 'e2']) await post(inbox, { id, type: 'order.paid' })
    await inbox.drain()
    const batch = lines.filter(({ msg }) => msg === 'batch')
    for (const line of batch) expect(line).toMatchObject({ source: 'shop' })
    expect(batch.reduce((sum, line) => sum + Number(line.events ?? 1), 0)).toBe(2)
  })

  test('events that cannot be released are a line in the log', async () => {
    const store = bench.store()
    const failing: Store = { ...store, release: () => Promise.reject(new HookonceError('STORE_UNAVAILABLE')) }
    const { inbox, lines } = bench.inbox({ store: failing, processing: { concurrency: 1 } })
    const begun = signal()
    const end = signal()
    inbox.on('shop', '*', () => {
      begun.give()
      return end.wait
    })
    for (const id of ['e1', 'e2']) await post(inbox, { id })
    await inbox.start()
    await begun.wait
    const stopping = inbox.stop()
    end.give()
    await stopping
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', step: 'claim', events: 1, code: 'STORE_UNAVAILABLE' }),
    )
  })
})

test('the lines of ctx.log.info are written at the default level', async () => {
  const { stderr } = await run(process.execPath, [
    '--input-type=module',
    '--eval',
    `import { createInbox } from 'hookonce'
    import { testSource } from 'hookonce/testing'
    import { stripe } from 'hookonce/providers'
    const source = testSource(stripe)
    const inbox = createInbox({ store: 'sqlite::memory:', sources: { stripe: source } })
    inbox.on('stripe', '*', (event, ctx) => ctx.log.info({ invoice: 'in_1' }, 'paid'))
    await inbox.receive('stripe', await source.sign(source.sample({ now: Date.now() })))
    await inbox.drain()
    await inbox.stop()`,
  ])
  expect(JSON.parse(stderr.trim())).toMatchObject({
    level: 'info',
    invoice: 'in_1',
    msg: 'paid',
    source: 'stripe',
  })
})
