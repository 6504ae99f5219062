/** CPU time of `verify` and `identify` for one delivery, by scheme: the samples of a sender for each, signed before. */
import { createHmac, randomBytes } from 'node:crypto'
import type { Delivery, Source } from 'hookonce'
import {
  amazonSns,
  discord,
  generateKeys,
  github,
  gitlab,
  netlify,
  sendgrid,
  shopify,
  standardWebhooks,
  stripe,
  unverified,
} from 'hookonce/providers'
import type { Suite } from '../suite.js'

const secret = 'a secret that is long enough'

type Signing = Pick<ReturnType<typeof stripe>, 'sample' | 'sign'> & Source

const sources: Readonly<Record<string, () => Signing | Source>> = {
  'HMAC-SHA256 of time and body, hex (Stripe)': () => stripe({ secret }),
  'HMAC-SHA256 of the body, hex (GitHub)': () => github({ secret }),
  'HMAC-SHA256 of the body, base64 (Shopify)': () => shopify({ secret }),
  'HMAC-SHA256, Standard Webhooks': () =>
    standardWebhooks({ secret: `whsec_${randomBytes(24).toString('base64')}` }),
  'Ed25519 (Discord)': () => discord(generateKeys('ed25519')),
  'ECDSA P-256 (SendGrid)': () => sendgrid(generateKeys('p256')),
  'RSA 2048 (Amazon SNS)': () =>
    amazonSns({ ...generateKeys('rsa'), topicArn: 'arn:aws:sns:us-west-2:123456789012:MyTopic' }),
  'JWT HS256 with a hash of the body (Netlify)': () => netlify({ secret }),
  'token in a header (GitLab)': () => gitlab({ secret }),
  'none (`unverified`)': () => unverified({ id: 'json:id', type: 'json:type' }),
}

export const verification: Suite = {
  name: 'verification',
  title: 'Verification by scheme',
  minutes: 1,
  async run(bench) {
    const now = Date.now()
    const cases = new Map<string, { source: Source; delivery: Delivery }>()
    for (const [name, make] of Object.entries(sources)) {
      const source = make()
      const delivery =
        'sample' in source && 'sign' in source
          ? await source.sign(source.sample({ now }))
          : {
              method: 'POST',
              url: 'http://x/',
              headers: {},
              body: Buffer.from('{"id":"evt_1","type":"paid"}'),
            }
      const verdict = await source.verify(delivery, { now })
      if (!verdict.ok) throw new Error(`${name}: the sample is refused: ${verdict.reason}`)
      cases.set(name, { source, delivery })
    }
    const names = [...cases.keys()]
    const ms = bench.short ? 5 : 150
    const samples = await bench.rounds({
      title: 'verify and identify',
      sides: names,
      async measure(name) {
        const { source, delivery } = cases.get(name)!
        return {
          verify: await microseconds(() => source.verify(delivery, { now }), ms),
          identify: await microseconds(() => source.identify(delivery), ms),
          hmac: await microseconds(() => createHmac('sha256', secret).update(delivery.body).digest(), ms),
        }
      },
    })
    return {
      tables: [
        {
          title:
            'µs for one delivery; the last column is `createHmac` of node:crypto over the same body, for comparison',
          head: ['scheme', 'bytes', 'verify', 'identify', 'HMAC alone'],
          rows: names.map((name) => [
            name,
            cases.get(name)!.delivery.body.byteLength,
            samples.of(name, 'verify'),
            samples.of(name, 'identify'),
            samples.of(name, 'hmac'),
          ]),
        },
      ],
      figures: { stripe: samples.of(names[0]!, 'verify') },
    }
  },
}

async function microseconds(call: () => unknown, ms: number): Promise<number> {
  const startedAt = performance.now()
  let calls = 0
  while (performance.now() - startedAt < ms) {
    for (let i = 0; i < 20; i++) {
      const result = call()
      // A scheme that fetches keys returns a promise. Waiting for a plain value would cost more than some schemes.
      if (result instanceof Promise) await result
    }
    calls += 20
  }
  return (1_000 * (performance.now() - startedAt)) / calls
}
