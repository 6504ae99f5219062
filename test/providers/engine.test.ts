/** What the contract cannot ask of every provider: the corners of the vocabulary, and attacks on single senders. */

import { createHash } from 'node:crypto'
import {
  adyen,
  amazonSns,
  composite,
  defineProvider,
  generateKeys,
  gitlab,
  hmac,
  hmacScheme,
  optional,
  plaid,
  shopify,
  stripe,
  twilio,
  unverified,
} from 'hookonce/providers'
import { providerContract } from 'hookonce/testing/contracts'
import { exportJWK, importPKCS8, importSPKI, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { Compiler } from '#dist/verification/delivery/compile.js'
import { Reading } from '#dist/verification/delivery/reading.js'

const now = 1_700_000_000_000
const secret = 'a secret that is long enough'
const bytes = (text: string) => new TextEncoder().encode(text)
const post = (body: string, headers: Record<string, string> = {}, url = 'https://example.com/hook') => ({
  method: 'POST',
  url,
  headers,
  body: bytes(body),
})
const form = { 'content-type': 'application/x-www-form-urlencoded' }

describe('several events in one delivery', () => {
  const source = unverified({
    each: 'entry[].changes[]',
    id: composite('json:^.id', 'json:id', optional('json:status'), 'index'),
    type: ['json:field', 'json:$.object'],
    reference: 'json:^^.object',
  })

  test('the fields of a slice start at the slice, at the object around it, or at the document', () => {
    const body =
      '{"object":"page","entry":[{"id":1,"changes":[{"id":"a","field":"x"},{"id":"b"}]},{"id":2,"changes":[ {"id":"a"} ]}]}'
    const events = source.identify(post(body))
    expect(events.map(({ id, type, reference }) => [id, type, reference])).toEqual([
      ['["1","a",null,"0"]', 'x', 'page'],
      ['["1","b",null,"1"]', 'page', 'page'],
      ['["2","a",null,"2"]', 'page', 'page'],
    ])
    expect(new TextDecoder().decode(events[2]!.content!)).toBe('{"id":"a"}')
    expect(events[1]!.payload).toEqual({ id: 'b' })
  })

  test('one slice without an id rejects the delivery', () => {
    expect(source.identify(post('{"entry":[{"id":1,"changes":[{"id":"a"},{}]}]}'))).toEqual([])
    expect(source.identify(post('{"entry":[{"id":1,"changes":[{"id":"a","id":"b"}]}]}'))).toEqual([])
  })
})

describe('ids', () => {
  test('keep every digit, whatever the white space in the JSON', () => {
    const source = unverified({ id: 'json:id' })
    expect(source.identify(post('{"id":9007199254740993}'))[0]!.id).toBe('9007199254740993')
    expect(source.identify(post(' {\n "id" : "a" } '))[0]!.id).toBe('a')
  })
  test('are refused when they are missing, empty, ambiguous, half a surrogate pair, or not a scalar', () => {
    const source = unverified({ id: 'json:id' })
    for (const body of [
      '{}',
      '{"id":""}',
      '{"id":null}',
      '{"id":{}}',
      '{"id":[1]}',
      '{"id":1,"id":1}',
      '{"id":"\\ud800"}',
      '',
      'id',
    ]) {
      expect(source.identify(post(body)), body).toEqual([])
    }
  })
  test('of several values are joined without ambiguity, and hashed when long', () => {
    const source = unverified({ id: composite('json:a', 'json:b') })
    const id = (a: string, b: string) => source.identify(post(JSON.stringify({ a, b })))[0]!.id
    expect(id('ab', 'c')).not.toBe(id('a', 'bc'))
    expect(id('","', 'x')).not.toBe(id('"', ',"x'))
    expect(id('x'.repeat(300), 'y')).toMatch(/^sha256:[0-9a-f]{64}$/)
  })
  test('from a form are refused when the name occurs twice or is not UTF-8', () => {
    const source = unverified({ id: 'form:id', type: 'const:x' })
    expect(source.identify(post('id=a%20b', form))[0]!.id).toBe('a b')
    for (const body of ['id=a&id=b', 'id=%ff', 'id=%', 'x=1'])
      expect(source.identify(post(body, form)), body).toEqual([])
  })
  test('a form is given as an object without prototype', () => {
    const source = unverified({ id: 'form:id', type: 'const:x' })
    const payload = source.identify(post('id=1&__proto__=x', form))[0]!.payload as object
    expect(Object.getPrototypeOf(payload)).toBeNull()
    expect(Object.entries(payload)).toEqual([
      ['id', '1'],
      ['__proto__', 'x'],
    ])
  })
})

describe('documents', () => {
  test('one JSON per line, or an array of them', () => {
    const source = unverified({ document: { lines: true }, id: 'json:log_id', type: 'json:data.type' })
    const ids = (body: string) => source.identify(post(body)).map(({ id }) => id)
    expect(ids('{"log_id":"a","data":{}}\n\n{"log_id":"b"}\n')).toEqual(['a', 'b'])
    expect(ids('[{"log_id":"a"},{"log_id":"b"}]')).toEqual(['a', 'b'])
    expect(ids('{"log_id":"a"}\n{"log_id"')).toEqual([])
  })
  test('in a multipart field', () => {
    const source = unverified({ document: { multipart: 'json' }, id: 'json:id' })
    const part = (name: string, value: string) =>
      `--XX\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
    const headers = { 'content-type': 'multipart/form-data; boundary=XX' }
    expect(
      source.identify(post(`${part('a', 'b')}${part('json', '{"id":"x"}')}--XX--`, headers))[0]!.id,
    ).toBe('x')
    expect(
      source.identify(post(`${part('json', '{"id":"x"}')}${part('json', '{"id":"y"}')}--XX--`, headers)),
    ).toEqual([])
  })
  test('in XML, without entities of a DTD', () => {
    const read = (xml: string) => new Compiler({}).field('xml:notification.kind')(Reading.of(post(xml)))
    expect(read('<notification><kind type="x">a &amp; b</kind></notification>')).toBe('a & b')
    expect(read('<!DOCTYPE x><notification><kind>a</kind></notification>')).toBeUndefined()
  })
})

describe('Adyen', () => {
  test('a colon cannot move text to the next field', async () => {
    const source = adyen({ secret: '44'.repeat(32) })
    const signed = await source.sign(source.sample({ now, id: 'PSP1' }))
    const text = new TextDecoder().decode(signed.body)
    // PSP1::TestMerchant:order-1001:... is also pspReference "PSP1:" with the rest moved up by one.
    const moved = text
      .replace('"pspReference":"PSP1"', '"pspReference":"PSP1:"')
      .replace(
        '"merchantAccountCode":"TestMerchant"',
        '"originalReference":"TestMerchant","merchantAccountCode":"order-1001"',
      )
      .replace('"merchantReference":"order-1001"', '"merchantReference":"1130"')
    expect(await source.verify({ ...signed, body: bytes(moved) }, { now })).toEqual({
      ok: false,
      reason: 'missing_field',
    })
  })
  test('an unsigned item among signed ones is refused', async () => {
    const source = adyen({ secret: '44'.repeat(32) })
    const signed = await source.sign(source.sample({ now, id: 'PSP1' }))
    const document = JSON.parse(new TextDecoder().decode(signed.body))
    document.notificationItems.push({ NotificationRequestItem: { pspReference: 'X', eventCode: 'REFUND' } })
    expect(await source.verify({ ...signed, body: bytes(JSON.stringify(document)) }, { now })).toMatchObject({
      ok: false,
    })
  })
})

describe('Twilio', () => {
  const url = 'https://example.com/hook?a=1'
  test('accepts a JSON body only with its hash in the URL', async () => {
    const source = twilio({ secret })
    const headers = { 'content-type': 'application/json' }
    const signed = await source.sign({ body: '{"id":"x","type":"y"}', now, url, headers })
    expect(signed.url).toMatch(/&bodySHA256=[0-9a-f]{64}$/)
    expect(await source.verify(signed, { now })).toMatchObject({ ok: true })
    expect(await source.verify({ ...signed, body: bytes('{}') }, { now })).toMatchObject({ ok: false })
    // A signature over a bare URL (a GET, an empty form) must not carry a body of another type.
    const empty = await source.sign({ body: '', now, url, headers: form })
    expect(await source.verify(empty, { now })).toMatchObject({ ok: true })
    expect(
      await source.verify(
        { ...empty, body: bytes('{"id":"forged"}'), headers: { ...empty.headers, ...headers } },
        { now },
      ),
    ).toMatchObject({ ok: false })
  })
  test('accepts the URL with and without the default port, and behind a proxy', async () => {
    const source = twilio({ secret })
    const signed = await source.sign({
      body: 'MessageSid=SM1',
      now,
      url: 'https://example.com:443/hook',
      headers: form,
    })
    expect(await source.verify({ ...signed, url: 'https://example.com/hook' }, { now })).toMatchObject({
      ok: true,
    })
    const plain = await source.sign({
      body: 'MessageSid=SM1',
      now,
      url: 'https://example.com/hook?x=1',
      headers: form,
    })
    expect(await source.verify({ ...plain, url: 'https://example.com:443/hook?x=1' }, { now })).toMatchObject(
      { ok: true },
    )
    const proxied = twilio({ secret, publicUrl: 'https://example.com/hook' })
    expect(await proxied.verify({ ...plain, url: 'http://10.0.0.1:3000/inner?x=1' }, { now })).toMatchObject({
      ok: true,
    })
    expect(await source.verify({ ...plain, url: 'http://10.0.0.1:3000/inner?x=1' }, { now })).toMatchObject({
      ok: false,
    })
  })
})

describe('Amazon SNS', () => {
  const pair = generateKeys('rsa')
  const topicArn = 'arn:aws:sns:us-west-2:123456789012:MyTopic'
  test('a line end cannot imitate the next field', async () => {
    const source = amazonSns({ ...pair, topicArn })
    const sample = source.sample({ now, id: 'real' })
    const body = JSON.parse(String(sample.body))
    body.Message = 'hello\nMessageId\nforged\nSubject\nx'
    delete body.Subject
    const signed = await source.sign({ ...sample, body: JSON.stringify(body) })
    const forged = JSON.parse(new TextDecoder().decode(signed.body))
    forged.Message = 'hello'
    forged.MessageId = 'forged'
    forged.Subject = 'x\nMessageId\nreal'
    expect(await source.verify({ ...signed, body: bytes(JSON.stringify(forged)) }, { now })).toMatchObject({
      ok: false,
    })
  })
  test('certificates are fetched only from Amazon, once, and failures are remembered', async () => {
    const fetched: string[] = []
    const source = amazonSns({
      topicArn,
      fetch: async (url) => {
        fetched.push(String(url))
        return new Response('no', { status: 500 })
      },
    })
    const signer = amazonSns({ ...pair, topicArn })
    const sample = signer.sample({ now })
    const at = async (url: string) => {
      const body = JSON.stringify({ ...JSON.parse(String(sample.body)), SigningCertURL: url })
      return source.verify(await signer.sign({ ...sample, body }), { now })
    }
    const strange = [
      'http://sns.us-west-2.amazonaws.com/a.pem',
      'https://sns.us-west-2.amazonaws.com.evil.com/a.pem',
      'https://evil.com/sns.us-west-2.amazonaws.com/a.pem',
      'https://sns.us-west-2.amazonaws.com@evil.com/a.pem',
      'https://sns.us-west-2.amazonaws.com:8443/a.pem',
      'https://bucket.s3.amazonaws.com/a.pem',
      'https://sns.us-west-2.amazonaws.com/../a/b.pem',
      'https://sns.us-west-2.amazonaws.com/a.pem?x=1#y'.replace('a.pem', 'a.txt'),
      'file:///etc/passwd',
      '',
    ]
    for (const url of strange) expect(await at(url), url).toEqual({ ok: false, reason: 'unknown_key' })
    expect(fetched).toEqual([])
    const good = 'https://sns.us-west-2.amazonaws.com/SimpleNotificationService-1.pem'
    for (let i = 0; i < 5; i += 1) expect(await at(good)).toEqual({ ok: false, reason: 'key_unavailable' })
    expect(fetched).toEqual([good])
    for (let i = 0; i < 50; i += 1) await at(`https://sns.us-west-2.amazonaws.com/made-up-${i}.pem`)
    expect(fetched.length).toBeLessThan(20)
  })
})

describe('Plaid', () => {
  const pair = generateKeys('p256')
  const body = '{"webhook_type":"ITEM","webhook_code":"ERROR","item_id":"x"}'
  const claims = { request_body_sha256: createHash('sha256').update(body).digest('hex'), iat: now / 1_000 }
  const token = async (header: object, content: object = claims) =>
    new SignJWT({ ...content })
      .setProtectedHeader({ alg: 'ES256', ...header })
      .sign(await importPKCS8(pair.privateKey, 'ES256'))
  const jwk = async () => ({
    ...(await exportJWK(await importSPKI(pair.publicKey, 'ES256'))),
    kid: 'k1',
    expired_at: null,
  })

  test('looks a key up by its id once, and rejects an expired key', async () => {
    const asked: string[] = []
    const source = plaid({
      getKey: async (kid) => {
        asked.push(kid)
        if (kid === 'gone') return { ...(await jwk()), expired_at: 1 }
        if (kid !== 'k1') throw new Error('no such key')
        return jwk()
      },
    })
    const verify = async (header: object) =>
      source.verify(post(body, { 'plaid-verification': await token(header) }), { now })
    expect(await verify({ kid: 'k1' })).toEqual({ ok: true, secretIndex: 0 })
    expect(await verify({ kid: 'k1' })).toEqual({ ok: true, secretIndex: 0 })
    expect(await verify({ kid: 'gone' })).toEqual({ ok: false, reason: 'unknown_key' })
    expect(await verify({ kid: 'other' })).toEqual({ ok: false, reason: 'key_unavailable' })
    expect(await verify({})).toEqual({ ok: false, reason: 'unknown_key' })
    expect(asked).toEqual(['k1', 'gone', 'other'])
  })
  test('accepts a key set, and only its own algorithm', async () => {
    const source = plaid({ publicKey: JSON.stringify({ keys: [await jwk()] }) })
    const send = (text: string) => source.verify(post(body, { 'plaid-verification': text }), { now })
    expect(await send(await token({ kid: 'k1' }))).toMatchObject({ ok: true })
    expect(await send(await token({ kid: 'k2' }))).toEqual({ ok: false, reason: 'unknown_key' })
    const confused = await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
      .sign(bytes(pair.publicKey))
    expect(await send(confused)).toMatchObject({ ok: false })
    const none = `${Buffer.from('{"alg":"none","kid":"k1"}').toString('base64url')}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`
    expect(await send(none)).toMatchObject({ ok: false })
    expect(await send(await token({ kid: 'k1' }, { ...claims, request_body_sha256: 'x' }))).toEqual({
      ok: false,
      reason: 'bad_signature',
    })
    expect(
      await send(await token({ kid: 'k1' }, { request_body_sha256: claims.request_body_sha256 })),
    ).toEqual({ ok: false, reason: 'missing_timestamp' })
  })
})

describe('facts that follow from the scheme', () => {
  test('whether the id is signed; equal content is accepted by default', () => {
    expect(stripe({ secret })).toMatchObject({ idIsSigned: true, contentGuard: 'accept' })
    expect(shopify({ secret })).toMatchObject({ idIsSigned: false, contentGuard: 'accept' })
    expect(gitlab({ secret })).toMatchObject({ idIsSigned: false })
    expect(gitlab({ signingSecret: `whsec_${Buffer.alloc(24, 1).toString('base64')}` })).toMatchObject({
      idIsSigned: true,
    })
    expect(shopify({ secret, contentGuard: 'reject' }).contentGuard).toBe('reject')
  })
  test('a source with two kinds of secret throws', () => {
    expect(() => gitlab({ secret, signingSecret: secret })).toThrow(/only one/)
    expect(() => gitlab({})).toThrow(/secret or signingSecret/)
  })
})

describe('any other sender', () => {
  test('hmac(...) signs and verifies by its options', async () => {
    const source = hmac({
      secret: [`${secret} new`, secret],
      header: 'X-Acme-Signature',
      encoding: 'base64',
      prefix: 'v1=',
      timestamp: { in: 'header:x-acme-time', unit: 'ms' },
      id: 'header:x-acme-id',
      type: 'json:kind',
      reference: 'json:data.order',
    })
    const signed = await source.sign({ ...source.sample({ now, id: 'e1', type: 'paid' }) })
    expect(await source.verify(signed, { now })).toEqual({ ok: true, secretIndex: 0 })
    expect(await source.verify(signed, { now: now + 600_000 })).toEqual({
      ok: false,
      reason: 'stale_timestamp',
    })
    expect(source.identify(signed)).toMatchObject([{ id: 'e1', type: 'paid', reference: 'ref_1' }])
    expect(source).toMatchObject({ unverified: false, idIsSigned: false })
  })
  test('its options are checked', () => {
    const options = { secret, header: 'x-signature', id: 'json:id' } as const
    expect(() => hmac({ ...options, secret: '' })).toThrow(/SECRET|needs the option/)
    expect(() => hmac({ ...options, algoritm: 'sha1' } as never)).toThrow(/Did you mean "algorithm"/)
    expect(() => hmac({ secret, header: 'x' } as never)).toThrow(/event id/)
    expect(() => hmac({ ...options, id: 'jsn:id' as never })).toThrow(/not a field/)
  })
  test('unverified(...) is marked as unverified', () => {
    expect(unverified({ id: 'hash' })).toMatchObject({ unverified: true, idIsSigned: false })
    expect(() => unverified({} as never)).toThrow(/event id/)
  })
})

describe('the contract itself', () => {
  test('fails a provider whose verifier accepts everything, or whose facts are wrong', async () => {
    const honest = defineProvider({
      key: 'sham',
      name: 'Sham',
      docs: 'https://example.com',
      confidence: 'verified',
      verify: hmacScheme({
        signature: 'header:x-signature',
        encoding: 'hex',
        signed: 'x',
        covers: { body: 'bytes' },
      }),
      events: { id: 'json:id', type: 'json:type' },
      retryWindowMs: null,
      samples: { a: { id: '{id}', type: 'a' } },
    })
    const credulous = Object.assign(
      (options: never) => ({ ...honest(options), verify: () => ({ ok: true as const, secretIndex: 0 }) }),
      honest,
    )
    const failures = async (factory: typeof honest) => {
      const failed: string[] = []
      for (const { name, leftOut, run } of providerContract(factory as never)) {
        if (leftOut === null) await run().catch(() => failed.push(name))
      }
      return failed
    }
    expect(await failures(honest)).toContain('each changed byte of the body is refused')
    expect(await failures(credulous as never)).toEqual(
      expect.arrayContaining([
        'every truncation of the signature is refused',
        'a missing signature is refused',
        'a delivery signed with another secret is refused',
        'each of several secrets is accepted and counted',
      ]),
    )
  })
})
