/** A key that cannot be fetched is our outage, not the sender's fault: 503, and the delivery is good afterwards. */
import { createServer } from 'node:http'
import { createInbox, type Source } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { amazonSns, generateKeys, googlePubsub, plaid } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { afterEach, expect, test } from 'vitest'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function inboxOf(source: Source) {
  const inbox = createInbox({ store: sqlite(':memory:'), sources: { sender: source } })
  closing.push(() => inbox.stop())
  return inbox
}

const away = async (): Promise<never> => {
  throw new TypeError('fetch failed')
}
const rsa = generateKeys('rsa')
const p256 = generateKeys('p256')
const topicArn = 'arn:aws:sns:us-west-2:123456789012:MyTopic'
const audience = { audience: 'https://example.com/a', serviceAccount: 'a@example.com' }
const senders: Record<string, { source: Source; signer: Source }> = {
  'a look-up that throws (Plaid)': { source: plaid({ getKey: away }), signer: plaid(p256) },
  'a certificate host that does not answer (Amazon SNS)': {
    source: amazonSns({ topicArn, fetch: away }),
    signer: amazonSns({ ...rsa, topicArn }),
  },
  'a certificate host that answers 500 (Amazon SNS)': {
    source: amazonSns({ topicArn, fetch: async () => new Response('', { status: 500 }) }),
    signer: amazonSns({ ...rsa, topicArn }),
  },
  'a key set that cannot be fetched (Google Pub/Sub)': {
    source: googlePubsub({ ...audience, fetch: away }),
    signer: googlePubsub({ ...audience, ...rsa }),
  },
}

for (const [name, { source, signer }] of Object.entries(senders)) {
  test(`${name} is 503 with Retry-After`, async () => {
    const inbox = inboxOf(source)
    const now = Date.now()
    const signed = await signer.sign(signer.sample({ now }))
    // Plaid's key is looked up by its id, which our own signer leaves out.
    const token = name.includes('Plaid') ? { 'plaid-verification': await withKid(signed) } : {}
    const delivery = { ...signed, headers: { ...signed.headers, ...token } }
    const receipt = await inbox.receive('sender', delivery)
    expect([receipt.httpStatus, receipt.status, receipt.reason]).toEqual([
      503,
      'unavailable',
      'key_unavailable',
    ])
    expect(receipt.headers['retry-after']).toMatch(/^\d+$/)
    expect(receipt.body).toBe('{"status":"unavailable"}')
  })
}

test('the adapters pass it on', async () => {
  const { source, signer } = senders['a certificate host that does not answer (Amazon SNS)']!
  const inbox = inboxOf(source)
  const delivery = await signer.sign(signer.sample({ now: Date.now() }))
  const request = () =>
    new Request('http://localhost/webhooks/sender', {
      method: 'POST',
      headers: delivery.headers,
      body: delivery.body,
    })
  const server = createServer(nodeHandler(inbox, { source: 'sender' } as never))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  closing.push(() => server.close())
  const { port } = server.address() as { port: number }
  const answers = [
    await inbox.fetch(request()),
    await fetch(`http://127.0.0.1:${port}/webhooks/sender`, {
      method: 'POST',
      headers: delivery.headers,
      body: delivery.body,
    }),
  ]
  for (const answer of answers) {
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
  }
})

test('a certificate that the host does not have is 401: somebody made the name up', async () => {
  const source = amazonSns({ topicArn, fetch: async () => new Response('', { status: 404 }) })
  const signer = amazonSns({ ...rsa, topicArn })
  const receipt = await inboxOf(source).receive(
    'sender',
    await signer.sign(signer.sample({ now: Date.now() })),
  )
  expect([receipt.httpStatus, receipt.reason]).toEqual([401, 'unknown_key'])
})

test('an answer without end is cut while it is read', async () => {
  let given = 0
  const endless = new ReadableStream({
    pull(controller) {
      given += 16_384
      if (given > 10_000_000) controller.close()
      else controller.enqueue(new Uint8Array(16_384))
    },
  })
  const source = amazonSns({ topicArn, fetch: async () => new Response(endless) })
  const signer = amazonSns({ ...rsa, topicArn })
  const verdict = await source.verify(await signer.sign(signer.sample({ now: Date.now() })), {
    now: Date.now(),
  })
  expect(verdict).toEqual({ ok: false, reason: 'key_unavailable' })
  expect(given).toBeLessThan(200_000)
})

async function withKid(delivery: { body: Uint8Array }): Promise<string> {
  const { importPKCS8, SignJWT } = await import('jose')
  const { createHash } = await import('node:crypto')
  return new SignJWT({ request_body_sha256: createHash('sha256').update(delivery.body).digest('hex') })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .setIssuedAt()
    .sign(await importPKCS8(p256.privateKey, 'ES256'))
}
