/** Sources for senders outside the catalogue: `token`, `basic`, `jwt` and `mtls`. `hmac` is tested in engine.test.ts. */
import {
  basic,
  composite,
  generateKeys,
  hmac,
  type IdentityOptions,
  jwt,
  mtls,
  token,
  unverified,
} from 'hookonce/providers'
import { type TestInbox, testInbox } from 'hookonce/testing'
import { exportJWK, importPKCS8, importSPKI, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'

const now = 1_700_000_000_000
const secret = 'a secret that is long enough'
const fingerprint = 'ab'.repeat(32)
const subject = 'CN=sender,O=Acme'
const pair = generateKeys('rsa')
const identity = { id: 'json:id' } as const

const makers = {
  token: (options: IdentityOptions) => token({ secret, ...options }),
  basic: (options: IdentityOptions) => basic({ secret: `acme:${secret}`, ...options }),
  hmac: (options: IdentityOptions) => hmac({ secret, header: 'x-signature', ...options }),
  jwt: (options: IdentityOptions) => jwt({ secret: `${secret}, and longer`, ...options }),
  mtls: (options: IdentityOptions) =>
    mtls({ header: 'x-client', fingerprint, proxyRemovesHeader: true, ...options }),
}
const post = (headers: Record<string, string>, body = '{"id":"e1"}', url = 'https://example.com/hook') => ({
  method: 'POST',
  url,
  headers,
  body: Buffer.from(body),
})

describe.each(Object.entries(makers))('%s(...)', (key, make) => {
  test('accepts its own deliveries and refuses a delivery without the proof or with another one', async () => {
    const source = make(identity)
    expect(source).toMatchObject({ key, unverified: false })
    const signed = await source.sign(source.sample({ now, id: 'e1', type: 'paid' }))
    expect(await source.verify(signed, { now })).toEqual({ ok: true, secretIndex: 0 })
    expect(source.identify(signed)).toMatchObject([{ id: 'e1', type: 'paid' }])
    const [place] = source.scheme.signatureIn
    const header = place!.slice('header:'.length)
    const { [header]: proof, ...others } = signed.headers
    expect(await source.verify({ ...signed, headers: others }, { now })).toEqual({
      ok: false,
      reason: 'missing_signature',
    })
    for (const wrong of [`${proof} `.repeat(2), `${proof}x`, proof!.slice(1), 'x', `${proof}, ${proof}`]) {
      const headers = { ...others, [header]: wrong }
      expect(await source.verify({ ...signed, headers }, { now }), wrong).toMatchObject({ ok: false })
    }
  })

  test('makes an event of each element of a batch, and a sample that has the batch', async () => {
    for (const each of ['events[]', '[]', 'data.items[].changes[]']) {
      const source = make({
        each,
        id: composite('json:id', 'json:at'),
        type: 'json:kind',
        reference: 'json:order.id',
      })
      const signed = await source.sign(source.sample({ now, id: 'e1', type: 'paid' }))
      expect(source.identify(signed)).toMatchObject([{ id: '["e1","e1"]', type: 'paid', reference: 'ref_1' }])
    }
    const source = make({ each: '[]', id: 'json:id' })
    const body = '[{"id":"a","type":"x"},{"id":"b"}]'
    const events = source.identify(await source.sign({ body, now }))
    expect(events.map(({ id, type }) => [id, type])).toEqual([
      ['a', 'x'],
      ['b', 'unknown'],
    ])
  })

  test('reports wrong options', () => {
    expect(() => make({} as never)).toThrow(`${key}() needs \`id\``)
    expect(() => make({ ...identity, reference_: 'json:x' } as never)).toThrow(/Did you mean "reference"/)
    expect(() => make({ id: 'jsn:id' as never })).toThrow(/not a field/)
    expect(() => make({ ...identity, each: 'events' })).toThrow(/path of a list/)
    expect(() => make({ ...identity, mode: 'fast' as never })).toThrow(/mode/)
  })

  test('handles each event of a batch once, and none again when the batch is delivered again', async () => {
    const handled: string[] = []
    const t = await testInbox({
      sources: { shop: make({ ...identity, each: 'events[]' }) },
      handlers: (inbox: TestInbox['inbox']) => inbox.on('shop', '*', (event) => void handled.push(event.id)),
    })
    try {
      const body = JSON.stringify({
        events: [
          { id: 'a', type: 'x' },
          { id: 'b', type: 'x' },
        ],
      })
      await t.deliver('shop', 'x', body)
      await t.deliver('shop', 'x', body)
      await t.drain()
      expect(handled.sort()).toEqual(['a', 'b'])
    } finally {
      await t.stop()
    }
  })
})

describe('token(...)', () => {
  test('reads a bearer token, or a token in another header, the URL or the body', async () => {
    const bearer = token({ secret, ...identity })
    expect(await bearer.verify(post({ authorization: `Bearer ${secret}` }), { now })).toMatchObject({
      ok: true,
    })
    expect(await bearer.verify(post({ authorization: secret }), { now })).toMatchObject({ ok: false })
    const key = token({ secret, in: 'header:X-Api-Key', ...identity })
    expect(await key.verify(post({ 'x-api-key': secret }), { now })).toMatchObject({ ok: true })
    const url = token({ secret: 'a-token-of-the-url', in: 'query:token', ...identity })
    const called = 'https://example.com/hook?token=a-token-of-the-url'
    expect(await url.verify(post({}, '{}', called), { now })).toMatchObject({ ok: true })
    const inBody = token({ secret, in: 'json:token', ...identity })
    expect(await inBody.verify(post({}, `{"token":"${secret}"}`), { now })).toMatchObject({ ok: true })
  })
  test('accepts an old token while it is being changed', async () => {
    const source = token({ secret: ['the new token', 'the old token'], ...identity })
    const old = post({ authorization: 'Bearer the old token' })
    expect(await source.verify(old, { now })).toEqual({ ok: true, secretIndex: 1 })
  })
  test('reports a missing or short token and a wrong place', () => {
    expect(() => token({ ...identity } as never)).toThrow(/secret/)
    expect(() => token({ secret: 'short', ...identity })).toThrow(/8/)
    expect(() => token({ secret, in: 'x-api-key' as never, ...identity })).toThrow(/place of the token/)
  })
})

describe('basic(...)', () => {
  test('reads user and password', async () => {
    const source = basic({ secret: 'acme:correct horse', ...identity })
    const header = (text: string) => post({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
    expect(await source.verify(header('acme:correct horse'), { now })).toMatchObject({ ok: true })
    expect(await source.verify(header('acme:another horse'), { now })).toMatchObject({ ok: false })
    expect(await source.verify(header('other:correct horse'), { now })).toMatchObject({ ok: false })
  })
  test('reports a secret that is not user:password', () => {
    expect(() => basic({ secret, ...identity })).toThrow(/user:password/)
    expect(() => basic({ secret: 'acme:short', ...identity })).toThrow(/8/)
  })
})

describe('jwt(...)', () => {
  const claims = {
    iss: 'https://sender.example',
    aud: 'https://example.com/hook',
    email: 'robot@sender.example',
  }
  const sign = async (payload: object, alg = 'RS256') =>
    new SignJWT({ ...payload })
      .setProtectedHeader({ alg, kid: 'k1' })
      .sign(await importPKCS8(pair.privateKey, 'RS256'))
  const end = now / 1_000 + 60
  const bearer = async (payload: object) => post({ authorization: `Bearer ${await sign(payload)}` })

  test('checks the issuer, the audience, other claims and the end', async () => {
    const { iss: issuer, aud: audience, email } = claims
    const source = jwt({ publicKey: pair.publicKey, issuer, audience, claims: { email }, ...identity })
    expect(await source.verify(await bearer({ ...claims, exp: end }), { now })).toMatchObject({ ok: true })
    for (const other of [{ iss: 'x' }, { aud: 'x' }, { email: 'x' }, { exp: undefined }]) {
      const delivery = await bearer({ ...claims, exp: end, ...other })
      expect(await source.verify(delivery, { now })).toEqual({ ok: false, reason: 'wrong_claims' })
    }
    const late = { now: now + 120_000 }
    expect(await source.verify(await bearer({ ...claims, exp: end }), late)).toMatchObject({
      reason: 'stale_timestamp',
    })
  })
  test('fetches the key set of the sender', async () => {
    const jwk = { ...(await exportJWK(await importSPKI(pair.publicKey, 'RS256'))), kid: 'k1', alg: 'RS256' }
    const fetched: string[] = []
    const source = jwt({
      jwksUrl: 'https://sender.example/keys',
      audience: claims.aud,
      fetch: async (url) => {
        fetched.push(String(url))
        return Response.json({ keys: [jwk] })
      },
      ...identity,
    })
    expect(await source.verify(await bearer({ ...claims, exp: end }), { now })).toMatchObject({ ok: true })
    expect(fetched).toEqual(['https://sender.example/keys'])
  })
  test('covers the body if a claim holds its hash', async () => {
    const source = jwt({ ...pair, bodyHash: 'body_sha256', ...identity })
    expect(source.idIsSigned).toBe(true)
    const signed = await source.sign({ body: '{"id":"e1"}', now })
    expect(await source.verify(signed, { now })).toMatchObject({ ok: true })
    expect(await source.verify({ ...signed, body: Buffer.from('{"id":"e2"}') }, { now })).toMatchObject({
      ok: false,
    })
    expect(jwt({ ...pair, ...identity }).idIsSigned).toBe(false)
  })
  test('reports wrong options', () => {
    const jwksUrl = 'https://sender.example/keys'
    expect(() => jwt({ ...identity })).toThrow(/one of secret, publicKey, jwksUrl or getKey/)
    expect(() => jwt({ secret, publicKey: pair.publicKey, ...identity })).toThrow(/not secret and publicKey/)
    expect(() => jwt({ publicKey: pair.publicKey, algorithm: 'HS256', ...identity })).toThrow(
      /HS algorithms need/,
    )
    expect(() => jwt({ secret, algorithm: 'none' as never, ...identity })).toThrow(/one of HS256/)
    expect(() => jwt({ jwksUrl, ...identity })).toThrow(/needs `audience` or `claims`/)
    expect(() => jwt({ jwksUrl: 'http://sender.example/', audience: 'a', ...identity })).toThrow(/https/)
    expect(() => jwt({ secret, audience: '', ...identity })).toThrow(/claim "aud"/)
  })
})

describe('mtls(...)', () => {
  const header = 'X-Client-Cert'
  const from = (text: string) => post({ 'x-client-cert': text })

  test('accepts a certificate by its fingerprint, in either case, with or without colons', async () => {
    const source = mtls({
      header,
      fingerprint: [fingerprint, '12'.repeat(20)],
      proxyRemovesHeader: true,
      ...identity,
    })
    const colons = fingerprint.toUpperCase().match(/../g)!.join(':')
    for (const text of [fingerprint, colons]) {
      expect(await source.verify(from(text), { now })).toEqual({ ok: true, secretIndex: 0 })
    }
    expect(await source.verify(from('12'.repeat(20)), { now })).toEqual({ ok: true, secretIndex: 1 })
    for (const text of ['cd'.repeat(32), `${fingerprint}, ${fingerprint}`, subject]) {
      expect(await source.verify(from(text), { now })).toEqual({ ok: false, reason: 'bad_signature' })
    }
    expect(await source.verify(from(''), { now })).toEqual({ ok: false, reason: 'missing_signature' })
    expect(source).toMatchObject({ idIsSigned: false, scheme: { kind: 'mtls', covers: { body: 'none' } } })
  })
  test('accepts a certificate by its exact subject', async () => {
    const source = mtls({ header, subject, proxyRemovesHeader: true, ...identity })
    expect(await source.verify(from(subject), { now })).toMatchObject({ ok: true })
    for (const text of ['CN=sender', `${subject},OU=x`, subject.toLowerCase()]) {
      expect(await source.verify(from(text), { now })).toMatchObject({ ok: false })
    }
  })
  test('needs the confirmation that the proxy removes the header', () => {
    const options = { header, fingerprint, ...identity }
    expect(() => mtls(options as never)).toThrow(/proxyRemovesHeader: true.*removes "X-Client-Cert"/s)
    expect(() => mtls({ ...options, proxyRemovesHeader: 'yes' as never })).toThrow(/proxyRemovesHeader/)
  })
  test('reports wrong options', () => {
    const options = { header, proxyRemovesHeader: true, ...identity } as const
    expect(() => mtls(options)).toThrow(/fingerprint or subject/)
    expect(() => mtls({ ...options, fingerprint, subject })).toThrow(/only one/)
    expect(() => mtls({ ...options, fingerprint: 'abc' })).toThrow(/SHA-256 fingerprint/)
    expect(() => mtls({ ...options, header: 'x client', fingerprint })).toThrow(/needs `header`/)
  })
})

test('unverified(...) makes batches too', () => {
  const source = unverified({ each: 'events[]', id: 'json:id' })
  expect(source.identify(post({}, '{"events":[{"id":"a"},{"id":"b"}]}')).map(({ id }) => id)).toEqual([
    'a',
    'b',
  ])
})
