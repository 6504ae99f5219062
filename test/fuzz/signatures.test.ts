/** Changed signatures and bodies before official SDKs and before us: we accept nothing that they refuse. */
import fc from 'fast-check'
import type { Delivery, Source } from 'hookonce'
import { github, razorpay, standardWebhooks, stripe } from 'hookonce/providers'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { describe, expect, test } from 'vitest'
import { installExtras } from '../../scripts/extras.mjs'
import { fuzzRuns } from './runs.js'

await installExtras('sdks')
const { verify: octokitVerify } = await import('@octokit/webhooks-methods')
const { default: Razorpay } = await import('razorpay')

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const { webhooks } = new Stripe('sk_test_unused')
const text = (delivery: Delivery) => Buffer.from(delivery.body).toString('utf8')

interface Side {
  readonly source: Source
  /** The header with the signature. */
  readonly header: string
  theirs(delivery: Delivery): unknown
}

const sides: Record<string, Side> = {
  'stripe and its SDK': {
    source: stripe({ secret }),
    header: 'stripe-signature',
    theirs: (sent) => webhooks.constructEvent(text(sent), sent.headers['stripe-signature']!, secret),
  },
  'github and @octokit/webhooks-methods': {
    source: github({ secret }),
    header: 'x-hub-signature-256',
    theirs: (sent) => octokitVerify(secret, text(sent), sent.headers['x-hub-signature-256']!),
  },
  'standard webhooks and standardwebhooks': {
    source: standardWebhooks({ secret }),
    header: 'webhook-signature',
    theirs: (sent) => new StandardWebhook(secret).verify(text(sent), { ...sent.headers }),
  },
  'razorpay and its SDK': {
    source: razorpay({ secret }),
    header: 'x-razorpay-signature',
    theirs: (sent) =>
      Razorpay.validateWebhookSignature(text(sent), sent.headers['x-razorpay-signature']!, secret),
  },
}

const piece = fc.oneof(
  fc.constantFrom(
    ',',
    ' ',
    '=',
    't=',
    'v1=',
    'v1,',
    'v0=',
    'sha256=',
    't=1,',
    '0',
    'a',
    'A',
    '==',
    '\t',
    'é',
  ),
  fc.string({ maxLength: 3 }),
)
const change = fc.record({
  what: fc.constantFrom('signature', 'signature', 'body', 'header', 'case'),
  at: fc.nat(),
  remove: fc.nat(3),
  insert: piece,
  which: fc.nat(),
})

describe('a changed delivery', () => {
  for (const [name, { source, header, theirs }] of Object.entries(sides)) {
    test(`${name}: nothing that the SDK refuses is accepted, and no other body`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(change, { maxLength: 2 }), async (changes) => {
          const now = Date.now()
          const signed = await source.sign(source.sample({ now }))
          let delivery = signed
          for (const one of changes) delivery = changed(delivery, header, one)
          const ours = (await source.verify(delivery, { now })).ok
          const same = text(delivery) === text(signed) && delivery.headers[header] === signed.headers[header]
          const accepted = await believed(() => theirs(delivery))
          // Hexadecimal digits in upper case and blanks are the same signature; some SDKs compare the text.
          const spelled = ({ headers }: Delivery) => headers[header]?.replace(/\s/g, '').toLowerCase()
          const respelled = spelled(delivery) === spelled(signed)
          if (ours && !respelled) expect(accepted).toBe(true)
          if (ours) expect(text(delivery)).toBe(text(signed))
          if (same && changes.length === 0) expect({ ours, accepted }).toEqual({ ours: true, accepted: true })
        }),
        { numRuns: fuzzRuns(300, 10) },
      )
    })
  }
})

function changed(
  delivery: Delivery,
  header: string,
  { what, at, remove, insert, which }: typeof change extends fc.Arbitrary<infer T> ? T : never,
): Delivery {
  const edit = (old: string) => {
    const place = at % (old.length + 1)
    return old.slice(0, place) + insert + old.slice(place + remove)
  }
  if (what === 'body') return { ...delivery, body: Buffer.from(edit(text(delivery))) }
  const names = Object.keys(delivery.headers)
  const name = what === 'header' ? names[which % names.length]! : header
  const old = delivery.headers[name] ?? ''
  const value = what === 'case' ? old.toUpperCase() : edit(old)
  return { ...delivery, headers: { ...delivery.headers, [name]: value } }
}

async function believed(check: () => unknown): Promise<boolean> {
  try {
    return (await check()) !== false
  } catch {
    return false
  }
}
