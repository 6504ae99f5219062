/** Cursors that somebody made up or changed: a clear refusal, or the page that the position in them means. */

import fc from 'fast-check'
import { isHookonceError } from 'hookonce'
import { expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { ids, onBothLogs, postAll } from '../support/processing.js'
import { fuzzRuns } from './runs.js'

const encoded = (text: string) => Buffer.from(text).toString('base64url')
const digits = fc.oneof(
  fc.integer({ min: -3, max: 40 }).map(String),
  fc.constantFrom(
    '1e1',
    '0x10',
    '9007199254740993',
    '99999999999999999999',
    ' 5',
    '5 ',
    '05',
    '+5',
    '5.0',
    '',
  ),
  fc.string(),
)
const cursor = fc.oneof(
  digits.map(encoded),
  digits,
  fc.string({ unit: 'binary' }),
  digits.map((text) => `${encoded(text)}=`),
  fc.tuple(fc.nat(40), fc.nat(3), fc.string({ maxLength: 2 })).map(([n, at, insert]) => {
    const made = encoded(String(n))
    return made.slice(0, at) + insert + made.slice(at + 1)
  }),
)

onBothLogs((bench) => {
  test('any cursor is INVALID_INPUT or the page after its position', async () => {
    const { inbox } = bench.inbox()
    await postAll(
      inbox,
      ids(25).map((id) => ({ id })),
    )
    await wholeInbox(inbox).store()
    const { events } = await inbox.events.list({}, { limit: 500 })
    await fc.assert(
      fc.asyncProperty(cursor, fc.integer({ min: 1, max: 30 }), async (text, limit) => {
        let page: Awaited<ReturnType<typeof inbox.events.list>>
        try {
          page = await inbox.events.list({}, { limit, cursor: text })
        } catch (error) {
          if (!isHookonceError(error, 'INVALID_INPUT')) throw error
          expect(error.message).toContain('cursor')
          return
        }
        const before = Number(Buffer.from(text, 'base64url').toString())
        const expected = events.filter(({ seq }) => seq < before).slice(0, limit)
        expect(page.events.map(({ seq }) => seq)).toEqual(expected.map(({ seq }) => seq))
      }),
      { numRuns: fuzzRuns(200, 50) },
    )
  })

  test('any cursor of the audit is INVALID_INPUT or a page', async () => {
    const { inbox } = bench.inbox()
    await postAll(
      inbox,
      ids(5).map((id) => ({ id })),
    )
    const store = await wholeInbox(inbox).store()
    for (const eventId of ids(5))
      await store.operate({
        verb: 'ignore',
        events: [{ source: 'shop', id: eventId }],
        actor: 'ada',
        note: 'x',
      })
    const { audits } = await inbox.events.audits({}, { limit: 500 })
    const known = audits.map((one) => JSON.stringify(one))
    expect(known.length).toBeGreaterThan(4)
    await fc.assert(
      fc.asyncProperty(cursor, async (text) => {
        try {
          const page = await inbox.events.audits({}, { limit: 10, cursor: text })
          for (const one of page.audits) expect(known).toContain(JSON.stringify(one))
        } catch (error) {
          if (!isHookonceError(error, 'INVALID_INPUT')) throw error
        }
      }),
      { numRuns: fuzzRuns(100, 50) },
    )
  })
})
