/** Signed deliveries as bytes on the wire. They are made before the time is measured. */
import { createHmac, randomBytes } from 'node:crypto'

export const SECRET = 'whsec_this_key_signs_benchmark_deliveries'

/** Stripe deliveries of about `bytes`, each with an id of its own. */
export function stripeRequests(count: number, bytes = 1_000): Buffer[] {
  const filler = 'x'.repeat(Math.max(0, bytes - 330))
  const now = Math.floor(Date.now() / 1_000)
  const batch = randomBytes(6).toString('hex')
  return Array.from({ length: count }, (_, i) => {
    const id = batch + i.toString(16).padStart(12, '0')
    return stripeRequest(
      `{"id":"evt_${id}","object":"event","api_version":"2026-01-28","created":${now},"livemode":true,` +
        `"pending_webhooks":1,"request":{"id":"req_${id}","idempotency_key":null},"type":"invoice.paid",` +
        `"data":{"object":{"id":"in_${id}","object":"invoice","amount_paid":${i},"description":"${filler}"}}}`,
      now,
    )
  })
}

export function stripeRequest(body: string, now = Math.floor(Date.now() / 1_000)): Buffer {
  const signature = createHmac('sha256', SECRET).update(`${now}.${body}`).digest('hex')
  return httpRequest(
    '/webhooks/stripe',
    {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
      accept: '*/*; q=0.5, application/xml',
      'stripe-signature': `t=${now},v1=${signature}`,
    },
    body,
  )
}

/** `share` of the requests are resent ones, taken from `known` at random. */
export function withDuplicates(
  fresh: readonly Buffer[],
  known: readonly Buffer[],
  share: number,
  count: number,
): Buffer[] {
  let next = 0
  return Array.from({ length: count }, (_, i) =>
    // Evenly spread, so that every second of the load has the same mixture.
    Math.floor((i + 1) * (1 - share)) > Math.floor(i * (1 - share))
      ? fresh[next++ % fresh.length]!
      : known[Math.floor(Math.random() * known.length)]!,
  )
}

/** Deliveries of Meta with several events of about 80 bytes. */
export function metaRequests(count: number, events: number): Buffer[] {
  return Array.from({ length: count }, () => {
    const batch = randomBytes(6).toString('hex')
    const messages = Array.from({ length: events }, (_, i) => ({
      id: `wamid.${batch}.${i}`,
      from: '16505551234',
      type: 'text',
      text: { body: 'hello' },
    }))
    const value = { metadata: { phone_number_id: '106540352242922' }, messages }
    const body = JSON.stringify({
      object: 'page',
      entry: [{ id: '1', time: 1, changes: [{ field: 'messages', value }] }],
    })
    const signature = createHmac('sha256', SECRET).update(body).digest('hex')
    return httpRequest(
      '/webhooks/meta',
      { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
      body,
    )
  })
}

export function httpRequest(path: string, headers: Readonly<Record<string, string>>, body: string): Buffer {
  const all = { host: '127.0.0.1', ...headers, 'content-length': String(Buffer.byteLength(body)) }
  const head = Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${head}\r\n${body}`)
}
