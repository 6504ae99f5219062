/**
 * Effects whose end is unknown, at a payment service that forgets its keys: `ctx.once` with `lookup`, `keyLives` and the
 * decision of a person. No charge is made twice, and none is lost.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Duration, permanent } from 'hookonce'
import { afterEach, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../support/child.js'
import { payingHandler, steps } from '../support/paying.mjs'
import { type Bench, ids, onBothLogs, onLog, post, postAll, stateOf, until } from '../support/processing.js'

const key = (id: string) => ({ source: 'shop', id })

interface Payments {
  readonly url: string
  /** By what was charged. */
  readonly charges: Map<string, { id: string }[]>
  /** What the next requests find: `cut`: it is charged, and the answer is lost. `lost`: the request is lost. `down`: 503. */
  readonly faults: ('cut' | 'lost' | 'down')[]
  readonly lookups: string[]
  forgetKeys(): void
  close(): Promise<void>
}

async function startPayments(): Promise<Payments> {
  const keys = new Map<string, { id: string }>()
  const charges: Payments['charges'] = new Map()
  const faults: Payments['faults'] = []
  const lookups: string[] = []
  const server = createServer((request, response) => {
    const of = decodeURIComponent(request.url!.split('/')[2]!)
    const fault = faults.shift()
    if (fault === 'lost') return void request.socket.destroy()
    if (fault === 'down') return void response.writeHead(503).end()
    const made = charges.get(of) ?? []
    let answer: unknown = made[0] ?? null
    if (request.method === 'GET') lookups.push(of)
    else {
      const key = String(request.headers['idempotency-key'])
      const charge = keys.get(key) ?? { id: `ch_${made.length + 1}` }
      if (!keys.has(key)) charges.set(of, [...made, charge])
      keys.set(key, charge)
      answer = charge
    }
    if (fault === 'cut') return void request.socket.destroy()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ charges, faults, lookups },
    forgetKeys: () => keys.clear(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const opened: Payments[] = []
const children: Child[] = []
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()))
  await Promise.all(opened.splice(0).map((payments) => payments.close()))
})

async function payments(): Promise<Payments> {
  const started = await startPayments()
  opened.push(started)
  return started
}

/** Every effect that was begun looks as if that was two hours ago. */
async function age({ kind, log }: Bench): Promise<void> {
  const hours = kind === 'SQLite' ? '7200000' : "interval '2 hours'"
  await log.sql(`update log.effects set started_at = started_at - ${hours}`)
}

onBothLogs((bench) => {
  const processing = { lease: 1_000, poll: 20, retry: { firstDelay: 1, maxDelay: 5, maxAttempts: 50 } }
  const succeeded = async (count: number) =>
    until(
      async () =>
        (await bench.rows("select 1 as n from log.event_log where processing_state <> 'succeeded'"))
          .length === 0,
      `${count} events have succeeded`,
    )

  describe('kill -9 at each step around an effect and its record', () => {
    const pairs = (lookup: boolean) => steps.filter((step) => lookup || !step.endsWith('lookup'))

    async function killAtEachStep(
      paying: { url: string; lookup: boolean; keyLives?: Duration },
      after: () => void,
    ) {
      const { inbox } = bench.inbox({ processing })
      const all: string[] = []
      for (const step of pairs(paying.lookup)) {
        const own = ids(2, `${step} `)
        all.push(...own)
        await postAll(
          inbox,
          own.map((id) => ({ id })),
        )
        const told = JSON.stringify({ ...paying, insert: bench.log.insertEffect, step })
        const child = startChild('./paying-child.mjs', [told, ...bench.log.args])
        children.push(child)
        await until(() => child.lines.includes(step), `the child is ${step}`)
        await child.kill()
        after()
      }
      return all
    }

    test('with lookup nothing is charged twice and nothing is lost, although the service forgets every key', async () => {
      const service = await payments()
      const paying = { url: service.url, lookup: true }
      const all = await killAtEachStep(paying, service.forgetKeys)
      const { inbox } = bench.inbox({ processing })
      inbox.on('shop', '*', payingHandler({ ...paying, insert: bench.log.insertEffect }))
      await inbox.start()
      await succeeded(all.length)
      const made = [...service.charges].map(([of, charges]) => `${of}: ${charges.map(({ id }) => id).join()}`)
      expect(made.sort()).toEqual(all.map((id) => `${id}: ch_1`).sort())
      expect((await bench.log.effects()).sort()).toEqual(made)
      expect(service.lookups.length).toBeGreaterThan(0)
    })

    test('with keyLives nothing is charged twice, and a person decides about what nobody knows any more', async () => {
      const service = await payments()
      const paying = { url: service.url, lookup: false, keyLives: '1h' } as const
      const all = await killAtEachStep(paying, () => {})
      service.forgetKeys()
      await age(bench)
      const { inbox } = bench.inbox({ processing })
      inbox.on('shop', '*', payingHandler({ ...paying, insert: bench.log.insertEffect }))
      await inbox.start()
      const left = () =>
        bench.rows("select event_id from log.event_log where processing_state not in ('succeeded', 'failed')")
      const retrying = () => bench.rows('select 1 as n from log.work')
      await until(
        async () => (await left()).length === 0 && (await retrying()).length === 0,
        'all have ended',
      )
      const dead = (await inbox.events.list({ state: 'failed' })).events
      expect(dead.length).toBeGreaterThan(0)
      for (const { id, reason, source } of dead) {
        expect(reason).toContain('the other service has forgotten its key, because keyLives is 1 hour')
        const charge = service.charges.get(id)?.[0] ?? null
        expect((await inbox.retry({ source, id }, { effects: { charge } })).done).toBe(true)
      }
      await succeeded(all.length)
      const made = [...service.charges].map(([of, charges]) => `${of}: ${charges.map(({ id }) => id).join()}`)
      expect(made.sort()).toEqual(all.map((id) => `${id}: ch_1`).sort())
      expect((await bench.log.effects()).sort()).toEqual(made)
    })
  })

  describe('lookup', () => {
    test('is asked after a lost answer, and its result is recorded in place of a second call', async () => {
      const service = await payments()
      const { inbox } = bench.inbox()
      inbox.on('shop', '*', payingHandler({ url: service.url, insert: bench.log.insertEffect, lookup: true }))
      service.faults.push('cut')
      await post(inbox, { id: 'e1' })
      expect(await inbox.process('shop', 'e1')).toMatchObject({ kind: 'failed' })
      service.forgetKeys()
      expect(await inbox.process('shop', 'e1')).toEqual({ kind: 'succeeded' })
      expect([service.charges.get('e1')?.length, service.lookups]).toEqual([1, ['e1']])
      expect(await bench.log.effects()).toEqual(['e1: ch_1'])
      // A replay has the recorded result, and asks nobody.
      await inbox.replay(key('e1'), { force: true })
      await inbox.drain()
      expect([service.charges.get('e1')?.length, service.lookups]).toEqual([1, ['e1']])
    })

    test('that finds nothing lets the effect happen', async () => {
      const service = await payments()
      const { inbox } = bench.inbox()
      inbox.on('shop', '*', payingHandler({ url: service.url, insert: bench.log.insertEffect, lookup: true }))
      service.faults.push('lost')
      await post(inbox, { id: 'e1' })
      expect(await inbox.process('shop', 'e1')).toMatchObject({ kind: 'failed' })
      expect(await inbox.process('shop', 'e1')).toEqual({ kind: 'succeeded' })
      expect([service.charges.get('e1')?.length, service.lookups]).toEqual([1, ['e1']])
    })

    test('that fails says so, uses up an attempt, and is asked again; nothing is charged meanwhile', async () => {
      const service = await payments()
      const { inbox } = bench.inbox()
      inbox.on('shop', '*', payingHandler({ url: service.url, insert: bench.log.insertEffect, lookup: true }))
      service.faults.push('cut', 'down', 'lost')
      await post(inbox, { id: 'e1' })
      await inbox.process('shop', 'e1')
      service.forgetKeys()
      for (const problem of ['answered 503', 'fetch failed']) {
        const result = await inbox.process('shop', 'e1')
        expect(result).toMatchObject({
          kind: 'failed',
          error: expect.stringMatching(`whether effect "charge" has happened is unknown.*${problem}`),
        })
      }
      expect(await inbox.process('shop', 'e1')).toEqual({ kind: 'succeeded' })
      expect((await inbox.events.get(key('e1')))?.attempts).toBe(4)
      expect(service.charges.get('e1')?.length).toBe(1)
    })

    test('decides itself how the attempt ends with permanent, and a missing return is an error', async () => {
      const { inbox } = bench.inbox()
      const asked: string[] = []
      const charge = () => {
        asked.push('charged')
        throw new Error('no answer')
      }
      inbox.on('shop', '*', (event, ctx) =>
        ctx.once('charge', charge, {
          lookup: (given) => {
            asked.push(given === ctx.idempotencyKey('charge') ? event.id : 'another key')
            if (event.id === 'e1') throw permanent('the card is gone')
            return undefined as never
          },
        }),
      )
      await postAll(inbox, [{ id: 'e1' }, { id: 'e2' }])
      for (const id of ['e1', 'e2'])
        expect(await inbox.process('shop', id)).toMatchObject({ error: 'no answer' })
      const failed = (id: string) => inbox.process('shop', id)
      expect(await failed('e1')).toMatchObject({ error: 'the card is gone', retryInMs: null })
      expect(await failed('e2')).toMatchObject({ error: expect.stringContaining('returned undefined') })
      expect(asked).toEqual(['charged', 'charged', 'e1', 'e2'])
    })
  })

  describe('keyLives', () => {
    test('while it lasts, a repetition has the same key', async () => {
      const service = await payments()
      const { inbox } = bench.inbox()
      const paying = {
        url: service.url,
        insert: bench.log.insertEffect,
        lookup: false,
        keyLives: '1h',
      } as const
      inbox.on('shop', '*', payingHandler(paying))
      service.faults.push('cut')
      await post(inbox, { id: 'e1' })
      expect(await inbox.process('shop', 'e1')).toMatchObject({ kind: 'failed' })
      expect(await inbox.process('shop', 'e1')).toEqual({ kind: 'succeeded' })
      expect(service.charges.get('e1')?.length).toBe(1)
    })

    test('after it, a lost answer makes a dead letter; a retry without a decision changes nothing about that', async () => {
      const service = await payments()
      const { inbox } = bench.inbox()
      const paying = {
        url: service.url,
        insert: bench.log.insertEffect,
        lookup: false,
        keyLives: '1h',
      } as const
      inbox.on('shop', '*', payingHandler(paying))
      service.faults.push('cut', 'lost')
      await postAll(inbox, [{ id: 'paid' }, { id: 'not' }])
      for (const id of ['paid', 'not']) await inbox.process('shop', id)
      service.forgetKeys()
      await age(bench)
      for (const _ of ['first', 'again']) {
        for (const id of ['paid', 'not'])
          expect(await inbox.process('shop', id)).toMatchObject({
            kind: 'failed',
            error: expect.stringMatching(/^effect "charge" was begun by an earlier attempt 2 hours ago/),
            retryInMs: null,
          })
        await inbox.retry([key('paid'), key('not')])
      }
      await inbox.drain()
      expect(await stateOf(inbox, 'paid')).toBe('failed')
      await expect(inbox.retry(key('not'), { effects: { charg: null } })).rejects.toThrow(
        'is not one whose end is unknown',
      )
      await expect(inbox.retry({ state: 'failed' }, { effects: { charge: null } } as never)).rejects.toThrow(
        'is about one event',
      )
      await inbox.retry(key('not'), { effects: { charge: null }, note: 'not at the bank' })
      await inbox.retry(key('paid'), { effects: { charge: { id: 'ch_1' } }, note: 'ch_1 at the bank' })
      await inbox.drain()
      expect((await bench.log.effects()).sort()).toEqual(['not: ch_1', 'paid: ch_1'])
      expect([...service.charges.values()].map((charges) => charges.length)).toEqual([1, 1])
    })

    test('a wrong value is an error', async () => {
      const { inbox } = bench.inbox()
      inbox.on('shop', '*', ({ id }, ctx) =>
        ctx.once('charge', () => 1, id === 'e1' ? { keyLives: 'a day' as never } : { lookup: 'no' as never }),
      )
      await postAll(inbox, [{ id: 'e1' }, { id: 'e2' }])
      expect(await inbox.process('shop', 'e1')).toMatchObject({ error: expect.stringContaining('keyLives') })
      expect(await inbox.process('shop', 'e2')).toMatchObject({ error: expect.stringContaining('lookup') })
    })
  })
})

onLog('SQLite', (bench) => {
  test('on a store with one writer, lookup and keyLives after the first use of ctx.tx are refused: the record would be rolled back', async () => {
    const { inbox } = bench.inbox()
    let calls = 0
    inbox.on('shop', '*', async (event, ctx) => {
      await bench.write(ctx.tx, event.id)
      await ctx.once('charge', () => ++calls, { keyLives: '1h' })
    })
    await post(inbox, { id: 'e1' })
    expect(await inbox.process('shop', 'e1')).toMatchObject({
      kind: 'failed',
      error: expect.stringContaining('on this store call it before'),
      retryInMs: null,
    })
    expect(calls).toBe(0)
  })
})
