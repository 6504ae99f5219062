/** An effect that ran is never run again because of its result. */

import { expect, test } from 'vitest'
import { limits } from '#dist/model.js'
import { onBothLogs, post } from '../support/processing.js'

const key = { source: 'shop', id: 'e1' }

/** Results that cannot be kept, and what is said about them. */
const results: Record<string, { make(): unknown; problem: RegExp }> = {
  'is larger than what is kept': {
    make: () => 'x'.repeat(limits.effectResultBytes),
    problem: /has 262146 bytes as JSON, and 262144 can be kept/,
  },
  'holds a BigInt': { make: () => ({ id: 7n }), problem: /cannot be written as JSON/ },
  'is a cycle': { make: cycle, problem: /cannot be written as JSON/ },
  'is a function': { make: () => () => {}, problem: /cannot be written as JSON/ },
  'cannot be read': { make: hostile, problem: /cannot be written as JSON/ },
}

function cycle(): unknown {
  const self: { self?: unknown } = {}
  self.self = self
  return self
}

function hostile(): unknown {
  return {
    toJSON() {
      throw Object.create(null)
    },
  }
}

onBothLogs((bench) => {
  for (const [name, { make, problem }] of Object.entries(results)) {
    test(`an effect whose result ${name} runs once, and its event is a dead letter that says so`, async () => {
      const { inbox } = bench.inbox()
      let calls = 0
      inbox.on('shop', '*', async (_event, ctx) => {
        await ctx.once('charge', () => {
          calls++
          return make()
        })
      })
      await post(inbox, { id: 'e1' })
      for (let order = 0; order < 3; order++) {
        expect(await inbox.process('shop', 'e1')).toMatchObject({ kind: 'failed', retryInMs: null })
        const { reason } = (await inbox.events.get(key)) ?? {}
        expect(reason).toMatch(/effect "charge" of event "e1" has run and will not run again/)
        expect(reason).toMatch(problem)
        expect(reason).toMatch(/Return only what later attempts need/)
        await inbox.retry(key)
      }
      expect(calls).toBe(1)
    })
  }

  test('the effect stays recorded when it ran inside the transaction that is rolled back with the attempt', async () => {
    const { inbox } = bench.inbox()
    let calls = 0
    inbox.on('shop', '*', async (event, ctx) => {
      await bench.write(ctx.tx, event.id)
      await ctx.once('charge', () => {
        calls++
        return 'x'.repeat(limits.effectResultBytes)
      })
    })
    await post(inbox, { id: 'e1' })
    for (let order = 0; order < 2; order++) {
      expect(await inbox.process('shop', 'e1')).toMatchObject({ kind: 'failed', retryInMs: null })
      await inbox.retry(key)
    }
    expect(calls).toBe(1)
    expect(await bench.log.effects()).toEqual([])
  })

  test('a handler that does not need the result catches the error and succeeds', async () => {
    const { inbox } = bench.inbox()
    const codes: string[] = []
    let calls = 0
    inbox.on('shop', '*', async (event, ctx) => {
      await ctx.once('charge', () => ++calls && 7n).catch((error) => codes.push(error.code))
      await bench.write(ctx.tx, event.id)
    })
    await post(inbox, { id: 'e1' })
    expect(await inbox.process('shop', 'e1')).toEqual({ kind: 'succeeded' })
    expect([codes, calls]).toEqual([['RESULT_NOT_KEPT'], 1])
    expect(await bench.log.effects()).toEqual(['e1'])
  })

  test('inbox.once runs work once whose result cannot be kept, and tells every caller', async () => {
    const { inbox } = bench.inbox()
    for (const [name, { make, problem }] of Object.entries(results)) {
      let calls = 0
      const call = () =>
        inbox.once(name, () => {
          calls++
          return make()
        })
      for (let i = 0; i < 3; i++) {
        const error = await call().then(
          () => null,
          (thrown) => thrown,
        )
        expect(error).toMatchObject({ code: 'RESULT_NOT_KEPT', retryable: false })
        expect(error.message).toMatch(problem)
      }
      expect([name, calls]).toEqual([name, 1])
    }
  })
})
