/** Keys that are fetched: strangers invent names of keys, and must neither cause many requests nor harm the sender. */
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { createInbox, type Source } from 'hookonce'
import { amazonSns, generateKeys, googlePubsub, paypal, plaid } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { exportJWK, importPKCS8, importSPKI, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { KeyCache } from '#dist/verification/schemes/key-cache.js'
import { KeySet } from '#dist/verification/schemes/key-set.js'
import { rsaCertificate, rsaCertificateKey } from '../support/certificate.js'

const now = Date.now()
const bytes = (text: string) => new TextEncoder().encode(text)
const rsaKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey
const key = rsaKey()

describe('a cache of keys', () => {
  const clock = () => {
    let at = 1_000
    const pass = (ms: number) => {
      at += ms
    }
    return { now: () => at, pass }
  }

  test('looks a name up once, however many ask for it at the same time', async () => {
    const asked: string[] = []
    const cache = new KeyCache(async (name) => {
      asked.push(name)
      return key
    })
    expect(await Promise.all(Array.from({ length: 50 }, () => cache.find('a')))).toEqual(Array(50).fill(key))
    expect(cache.find('a')).toBe(key)
    expect(asked).toEqual(['a'])
  })

  test('has a budget for unknown names, which time fills again', async () => {
    const { now, pass } = clock()
    let asked = 0
    const cache = new KeyCache(
      async (name) => {
        asked += 1
        return name === 'genuine' ? key : 'unknown_key'
      },
      { now },
    )
    const verdicts = await Promise.all(Array.from({ length: 500 }, (_, i) => cache.find(`forged ${i}`)))
    expect(asked).toBe(10)
    expect(verdicts[0]).toBe('unknown_key')
    expect(verdicts[499]).toBe('key_unavailable')
    expect(await cache.find('genuine')).toBe('key_unavailable')
    pass(6_000)
    expect(await cache.find('genuine')).toBe(key)
    expect(asked).toBe(11)
  })

  test('keeps a key that was found, whatever else is asked for', async () => {
    const { now, pass } = clock()
    const cache = new KeyCache(async (name) => (name === 'genuine' ? key : 'key_unavailable'), { now })
    await cache.find('genuine')
    for (let i = 0; i < 2_000; i += 1) {
      await cache.find(`forged ${i}`)
      pass(6_000)
    }
    expect(cache.find('genuine')).toBe(key)
  })

  test('a look-up that hangs is an outage for the deliveries that wait for it, and not for ever', async () => {
    const { now, pass } = clock()
    let asked = 0
    const lookUp = () => {
      asked += 1
      return asked === 1 ? new Promise<never>(() => {}) : Promise.resolve(key)
    }
    const cache = new KeyCache(lookUp, { now, timeoutMs: 1 })
    expect(await Promise.all([cache.find('a'), cache.find('a')])).toEqual([
      'key_unavailable',
      'key_unavailable',
    ])
    pass(30_000)
    expect(await cache.find('a')).toBe(key)
  })

  test('removes the key that was not used for the longest time', async () => {
    const { now, pass } = clock()
    const asked: string[] = []
    const cache = new KeyCache(
      async (name) => {
        asked.push(name)
        return key
      },
      { now },
    )
    for (let i = 0; i < 65; i += 1) {
      await cache.find(String(i))
      await cache.find('0')
      pass(6_000)
    }
    asked.length = 0
    await cache.find('0')
    expect(asked).toEqual([])
    await cache.find('1')
    expect(asked).toEqual(['1'])
  })
})

describe('a key set', () => {
  const served = async (kids: readonly string[]) => ({
    keys: await Promise.all(kids.map(async (kid) => ({ ...(await exportJWK(rsaKey())), kid, alg: 'RS256' }))),
  })
  const header = (kid: string) => ({ alg: 'RS256', kid })

  test('is fetched again for an unknown key, but not just after it was fetched', async () => {
    let at = 0
    let set = await served(['a'])
    let fetched = 0
    const keys = new KeySet(
      'https://sender.example/keys',
      async () => {
        fetched += 1
        return Response.json(set)
      },
      { now: () => at },
    )
    expect(await keys.find(header('a'))).toBeTypeOf('object')
    for (let i = 0; i < 500; i += 1) expect(await keys.find(header(`forged ${i}`))).toBe('unknown_key')
    expect(fetched).toBe(1)
    set = await served(['a', 'b'])
    at += 30_000
    expect(await keys.find(header('b'))).toBeTypeOf('object')
    expect(fetched).toBe(2)
  })

  test('that hangs is an outage, and is fetched again', async () => {
    let at = 0
    let fetched = 0
    const load = () => {
      fetched += 1
      return new Promise<never>(() => {})
    }
    const keys = new KeySet('https://sender.example/keys', load, { now: () => at, timeoutMs: 1 })
    expect(await keys.find(header('a'))).toBe('key_unavailable')
    expect(await keys.find(header('a'))).toBe('key_unavailable')
    expect(fetched).toBe(1)
    at += 5_000
    expect(await keys.find(header('a'))).toBe('key_unavailable')
    expect(fetched).toBe(2)
  })

  test('that cannot be fetched again is still used for its keys', async () => {
    let at = 0
    let fetched = 0
    const set = await served(['a'])
    const keys = new KeySet(
      'https://sender.example/keys',
      async () => {
        fetched += 1
        if (fetched > 1) throw new TypeError('fetch failed')
        return Response.json(set)
      },
      { now: () => at },
    )
    await keys.find(header('a'))
    at += 60_000
    for (let i = 0; i < 500; i += 1) expect(await keys.find(header(`forged ${i}`))).toBe('key_unavailable')
    expect(await keys.find(header('a'))).toBeTypeOf('object')
    expect(fetched).toBe(2)
  })
})

/** What a source fetches, and the statuses of 500 forged deliveries and of genuine ones after them. */
async function attacked(
  source: Source,
  genuine: () => Promise<object>,
  forged: (i: number) => Promise<object>,
) {
  const inbox = createInbox({ store: sqlite(':memory:'), sources: { sender: source } })
  try {
    const receive = async (delivery: object) => (await inbox.receive('sender', delivery as never)).httpStatus
    const before = await receive(await genuine())
    const during: number[] = []
    for (let i = 0; i < 500; i += 1) during.push(await receive(await forged(i)))
    return { before, during: new Set(during), after: await receive(await genuine()) }
  } finally {
    await inbox.stop()
  }
}

describe('Amazon SNS', () => {
  const topicArn = 'arn:aws:sns:us-west-2:123456789012:MyTopic'
  const signer = amazonSns({ publicKey: rsaCertificate, privateKey: rsaCertificateKey, topicArn })
  const from = async (host: string, file: string) => {
    const sample = signer.sample({ now, id: randomUUID() })
    const body = { ...JSON.parse(String(sample.body)), SigningCertURL: `https://${host}/${file}` }
    return signer.sign({ ...sample, body: JSON.stringify(body) })
  }

  test('500 forged messages cause few requests, and the next genuine message is accepted', async () => {
    const fetched: string[] = []
    const source = amazonSns({
      topicArn,
      fetch: async (url) => {
        fetched.push(String(url))
        return String(url).endsWith('/real.pem')
          ? new Response(rsaCertificate)
          : new Response('', { status: 403 })
      },
    })
    const host = 'sns.us-west-2.amazonaws.com'
    const { before, after } = await attacked(
      source,
      () => from(host, 'real.pem'),
      (i) => from(host, `forged-${i}.pem`),
    )
    expect([before, after]).toEqual([200, 200])
    expect(fetched.length).toBeLessThan(100)
  })

  test('asks only the host of the region of its topics', async () => {
    const fetched: string[] = []
    const source = amazonSns({
      topicArn: [topicArn, 'arn:aws-cn:sns:cn-north-1:123456789012:Ours'],
      fetch: async (url) => {
        fetched.push(new URL(String(url)).host)
        return new Response('', { status: 500 })
      },
    })
    const verdict = async (host: string) => source.verify(await from(host, 'a.pem'), { now })
    for (const host of ['sns.us-east-1.amazonaws.com', 'sns.cn-north-1.amazonaws.com', 'sns.amazonaws.com'])
      expect(await verdict(host), host).toEqual({ ok: false, reason: 'unknown_key' })
    expect(fetched).toEqual([])
    for (const host of ['sns.us-west-2.amazonaws.com', 'sns.cn-north-1.amazonaws.com.cn'])
      expect(await verdict(host), host).toEqual({ ok: false, reason: 'key_unavailable' })
    expect(fetched).toEqual(['sns.us-west-2.amazonaws.com', 'sns.cn-north-1.amazonaws.com.cn'])
    expect(() => amazonSns({ topicArn: 'MyTopic' })).toThrow(/topicArn.*must be the ARN/)
  })
})

test('PayPal: 500 forged deliveries cause few requests, and the next genuine one is accepted', async () => {
  const options = { webhookId: '1JE4291016473214C' }
  const signer = paypal({ ...options, publicKey: rsaCertificate, privateKey: rsaCertificateKey })
  let fetched = 0
  const source = paypal({
    ...options,
    fetch: async (url) => {
      fetched += 1
      return String(url).endsWith('/CERT-real')
        ? new Response(rsaCertificate)
        : new Response('', { status: 404 })
    },
  })
  const from = async (name: string) => {
    const sample = signer.sample({ now })
    const headers = {
      ...sample.headers,
      'paypal-transmission-id': randomUUID(),
      'paypal-cert-url': `https://api.paypal.com/v1/notifications/certs/${name}`,
    }
    return signer.sign({ ...sample, headers })
  }
  const { before, after } = await attacked(
    source,
    () => from('CERT-real'),
    (i) => from(`CERT-${i}`),
  )
  expect([before, after]).toEqual([200, 200])
  expect(fetched).toBeLessThan(100)
})

test('Plaid: 500 forged tokens cause few look-ups, and the next genuine one is accepted', async () => {
  const pair = generateKeys('p256')
  const signer = plaid(pair)
  const jwk = { ...(await exportJWK(await importSPKI(pair.publicKey, 'ES256'))), kid: 'real' }
  let asked = 0
  const source = plaid({
    getKey: async (kid) => {
      asked += 1
      return kid === 'real' ? jwk : null
    },
  })
  const from = async (kid: string) => {
    const { body, ...signed } = await signer.sign({ body: `{"id":"${randomUUID()}"}`, now: Date.now() })
    const [, claims] = signed.headers['plaid-verification']!.split('.')
    const token = await new SignJWT(JSON.parse(Buffer.from(claims!, 'base64url').toString()))
      .setProtectedHeader({ alg: 'ES256', kid })
      .sign(await importPKCS8(pair.privateKey, 'ES256'))
    return { ...signed, body, headers: { 'plaid-verification': token } }
  }
  const { before, after } = await attacked(
    source,
    () => from('real'),
    (i) => from(`forged ${i}`),
  )
  expect([before, after]).toEqual([200, 200])
  expect(asked).toBeLessThan(100)
})

describe('Google Pub/Sub', () => {
  const pair = generateKeys('rsa')
  const options = { audience: 'https://example.com/a', serviceAccount: 'a@example.com' }
  const claims = {
    iss: 'https://accounts.google.com',
    aud: options.audience,
    email: options.serviceAccount,
    email_verified: true,
    exp: Math.floor(now / 1_000) + 600,
  }
  const delivery = (token: string) => ({
    method: 'POST',
    url: 'https://example.com/a',
    headers: { authorization: `Bearer ${token}` },
    body: bytes(JSON.stringify({ subscription: 's', message: { messageId: randomUUID() } })),
  })
  const signed = async (kid: string) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid })
      .sign(await importPKCS8(pair.privateKey, 'RS256'))
  const unsigned = (header: object) =>
    `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`
  const sourceOf = async (answer: () => Promise<Response>) => {
    const fetched = { count: 0 }
    const source = googlePubsub({
      ...options,
      fetch: async () => {
        fetched.count += 1
        return answer()
      },
    })
    const inbox = createInbox({ store: sqlite(':memory:'), sources: { sender: source } })
    const receive = async (token: string) => {
      const { httpStatus, reason } = await inbox.receive('sender', delivery(token))
      return [httpStatus, reason]
    }
    return { inbox, fetched, receive }
  }
  const keys = async () =>
    Response.json({
      keys: [{ ...(await exportJWK(await importSPKI(pair.publicKey, 'RS256'))), kid: 'k1', alg: 'RS256' }],
    })

  test('a token with another algorithm is 401 without a look-up', async () => {
    const { inbox, fetched, receive } = await sourceOf(keys)
    const shared = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
      .sign(bytes(pair.publicKey))
    for (const token of [
      shared,
      unsigned({ alg: 'none', kid: 'k1' }),
      unsigned({ alg: 'PS256', kid: 'k1' }),
      unsigned({ kid: 'k1' }),
      unsigned({ alg: 'RS256', kid: 7 }),
    ])
      expect(await receive(token)).toEqual([401, 'malformed_token'])
    expect(fetched.count).toBe(0)
    await inbox.stop()
  })

  test('an unknown key is 401 when the set was just fetched, and 503 when it cannot be fetched', async () => {
    const there = await sourceOf(keys)
    expect(await there.receive(await signed('forged'))).toEqual([401, 'unknown_key'])
    expect(await there.receive(unsigned({ alg: 'RS256' }))).toEqual([401, 'bad_signature'])
    expect((await there.receive(await signed('k1')))[0]).toBe(200)
    await there.inbox.stop()
    const away = await sourceOf(async () => new Response('', { status: 500 }))
    for (let i = 0; i < 500; i += 1) expect((await away.receive(await signed('k1')))[0]).toBe(503)
    expect(away.fetched.count).toBeLessThan(50)
    await away.inbox.stop()
  })
})
