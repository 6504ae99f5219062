/** Two sources with one secret: a delivery that was captured at one of them is valid at the other. */

import type { Source } from 'hookonce'
import { github, standardWebhooks, stripe, twilio, unverified } from 'hookonce/providers'
import { expect, test } from 'vitest'
import { loggedInbox, secretOf } from '../support/inboxes.js'

function warningsOf(sources: Record<string, Source>): string[] {
  const { lines } = loggedInbox({ store: 'sqlite::memory:', sources })
  return lines.filter(({ level }) => level === 'warn').map(({ msg }) => msg)
}

test('two sources of one sender with the same secret are named at the start, without the secret', async () => {
  const secret = secretOf('shared')
  const sources = {
    shop: stripe({ secret }),
    internal: { ...stripe({ secret: [secretOf('new'), secret] }), rearm: true },
    other: stripe({ secret: secretOf('other') }),
  }
  const warnings = warningsOf(sources)
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toContain('"shop" and "internal"')
  expect(warnings[0]).not.toContain(secret)
  // The reason of the warning: a delivery to one source is accepted by the other.
  const { inbox } = loggedInbox({ store: 'sqlite::memory:', sources })
  const delivery = await sources.shop.sign(sources.shop.sample({ now: Date.now() }))
  expect((await inbox.receive('internal', delivery)).httpStatus).toBe(200)
  await inbox.stop()
})

test('secrets that differ, other senders, and signatures over the URL are no reason to warn', () => {
  const secret = secretOf('shared')
  expect(warningsOf({ a: stripe({ secret }), b: stripe({ secret: secretOf('b') }) })).toEqual([])
  expect(warningsOf({ a: stripe({ secret }), b: github({ secret }) })).toEqual([])
  const url = { authToken: '0123456789abcdef0123456789abcdef' }
  expect(warningsOf({ a: twilio(url as never), b: twilio(url as never) })).toEqual([])
})

test('a source printed in a log shows no secret', () => {
  const secret = `whsec_${Buffer.from(secretOf('printed')).toString('base64')}`
  expect(JSON.stringify(standardWebhooks({ secret }))).not.toContain(secret)
  expect(warningsOf({ a: unverified({ id: 'json:id', type: 'json:type' }) })).toHaveLength(1)
})
