/** Signatures made here with node:crypto, not by our own signer: it would make the same mistake as the verifier. */
import { createHmac } from 'node:crypto'
import type { Source } from 'hookonce'
import { github, stripe } from 'hookonce/providers'
import { expect, test } from 'vitest'

const secret = 'a-secret-of-more-than-sixteen-bytes'
const now = Date.UTC(2026, 10, 15)
const sign = (content: string) => createHmac('sha256', secret).update(content).digest('hex')

async function verdict(source: Pick<Source, 'verify'>, body: string, headers: Record<string, string>) {
  const delivery = { method: 'POST', url: 'https://example.com/', headers, body: Buffer.from(body) }
  return (await source.verify(delivery, { now })).ok
}

test('the signature is checked over the received bytes, not over the same JSON written again', async () => {
  const spaced = '{ "id" : 1,\n "text" : "\\u00eb" }'
  const compact = JSON.stringify(JSON.parse(spaced))
  const headers = { 'x-hub-signature-256': `sha256=${sign(spaced)}`, 'x-github-event': 'push' }
  expect(await verdict(github({ secret }), spaced, headers)).toBe(true)
  expect(await verdict(github({ secret }), compact, headers)).toBe(false)
})

test('a signed time with letters behind it is refused, also with a right signature', async () => {
  const seconds = String(now / 1_000)
  const body = '{"id":"evt_1","type":"a.b"}'
  for (const [time, isAccepted] of [
    [seconds, true],
    [`${seconds}abc`, false],
    [`${seconds}.5`, false],
    [` ${seconds}`, false],
  ] as const) {
    const headers = { 'stripe-signature': `t=${time},v1=${sign(`${time}.${body}`)}` }
    expect([time, await verdict(stripe({ secret }), body, headers)]).toEqual([time, isAccepted])
  }
})
