/** Options a person gets wrong: every error says which one, and what to write instead. */
import { createHmac } from 'node:crypto'
import {
  catalogue,
  clerk,
  discord,
  googlePubsub,
  hmac,
  plaid,
  resend,
  slack,
  standardWebhooks,
  stripe,
  twilio,
} from 'hookonce/providers'
import { describe, expect, test } from 'vitest'

const now = 1_700_000_000_000
const secret = 'a secret that is long enough'
const messageOf = (make: () => unknown): string => {
  try {
    make()
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`
  }
  throw new Error('nothing was thrown')
}

describe("the sender's own word for its secret", () => {
  test('is taken: slack({ signingSecret }), twilio({ authToken }), stripe({ endpointSecret })', async () => {
    const body = JSON.stringify({ id: 'evt_1', type: 'x' })
    const signed = await stripe({ secret }).sign({ body, now })
    expect(await stripe({ endpointSecret: [secret] }).verify(signed, { now })).toMatchObject({ ok: true })
    expect(slack({ signingSecret: secret }).scheme.credential).toBe('secret')
    expect(twilio({ authToken: secret, mode: 'inline' }).mode).toBe('inline')
  })

  test('is an error together with our name', () => {
    expect(messageOf(() => slack({ secret, signingSecret: secret } as never))).toMatch(
      /OPTION_INVALID.*secret and signingSecret.*only one/,
    )
  })

  test('of every provider stands for an existing option', () => {
    let aliases = 0
    for (const factory of Object.values(catalogue)) {
      for (const [alias, option] of Object.entries(factory.definition.aliases ?? {})) {
        aliases += 1
        const { [option]: value, ...rest } = factory.example(option)
        expect(value, `${factory.key}: ${alias}`).toBeDefined()
        const source = (factory as (options: never) => { scheme: { credential: string } })({
          ...rest,
          [alias]: value,
        } as never)
        expect(source.scheme.credential).toBe(option)
        expect(factory.credentials).not.toContain(alias)
      }
    }
    expect(aliases).toBeGreaterThan(40)
  })
})

describe('an option that is not known', () => {
  test('is reported before a missing one, with the nearest name, and without unverified', () => {
    const cases: [() => unknown, RegExp][] = [
      [() => stripe({ secrets: secret } as never), /no option "secrets"\. Did you mean "secret"\?/],
      [
        () => slack({ signingSecert: secret } as never),
        /no option "signingSecert"\. Did you mean "signingSecret"\?/,
      ],
      [() => twilio({ apiKey: secret } as never), /no option "apiKey"\. Did you mean "secret"\?/],
      [() => discord({ publickey: 'x' } as never), /no option "publickey"\. Did you mean "publicKey"\?/],
    ]
    for (const [make, expected] of cases) {
      const message = messageOf(make)
      expect(message).toMatch(/^OPTION_UNKNOWN/)
      expect(message).toMatch(expected)
      expect(message).not.toContain('unverified')
    }
  })

  test('a missing secret is reported, also without any options', () => {
    for (const options of [undefined, {}, { secret: undefined }]) {
      expect(messageOf(() => (stripe as (options: unknown) => unknown)(options))).toMatch(
        /^SECRET_MISSING: Provider "stripe" needs the option secret/,
      )
    }
    expect(messageOf(() => (hmac as () => unknown)())).toMatch(/needs `header`/)
    for (const options of [secret, 42, null, [secret]]) {
      const message = messageOf(() => (stripe as (options: unknown) => unknown)(options))
      expect(message).toMatch(/^OPTION_INVALID.*stripe\(\{ secret: /)
      expect(message).not.toContain(secret)
    }
  })
})

describe('white space around a secret', () => {
  const body = '{"id":"1"}'
  const verified = async (given: string) => {
    const source = hmac({ secret: given, header: 'x-signature', id: 'json:id' })
    const signature = createHmac('sha256', secret).update(body).digest('hex')
    return source.verify(
      { method: 'POST', url: '/', headers: { 'x-signature': signature }, body: Buffer.from(body) },
      { now },
    )
  }

  test('a line end after it, as from a file, is removed', async () => {
    for (const given of [`${secret}\n`, `${secret}\r\n`, `\n${secret}\n\n`])
      expect(await verified(given)).toMatchObject({ ok: true })
  })

  test('a space could belong to it and is an error', () => {
    for (const given of [` ${secret}`, `${secret} `, `${secret}\t`]) {
      const message = messageOf(() => stripe({ secret: given }))
      expect(message).toMatch(/^SECRET_FORM.*white space/)
      expect(message).not.toContain(secret)
    }
  })

  test('around an encoded secret it is removed', async () => {
    const key = Buffer.alloc(24, 7).toString('base64')
    const signed = await standardWebhooks({ secret: `whsec_${key}` }).sign({
      body: '{"type":"x"}',
      now,
      id: 'm',
    })
    for (const given of [` whsec_${key} `, `whsec_${key}\n`])
      expect(await standardWebhooks({ secret: given }).verify(signed, { now })).toMatchObject({ ok: true })
  })
})

describe('options of the wrong kind are refused when the source is made', () => {
  test('publicUrl', () => {
    for (const publicUrl of [42, '', 'example.com/hook', '/hook', null, {}]) {
      expect(messageOf(() => twilio({ secret, publicUrl } as never))).toMatch(/^OPTION_INVALID.*publicUrl/)
      expect(messageOf(() => hmac({ secret, header: 'x', id: 'json:id', publicUrl } as never))).toMatch(
        /^OPTION_INVALID.*publicUrl/,
      )
    }
  })
  test('getKey and fetch', () => {
    expect(messageOf(() => plaid({ getKey: 'k' } as never))).toMatch(/getKey.*function/)
    const options = { audience: 'https://a.example', serviceAccount: 'a@b.example', fetch: 1 }
    expect(messageOf(() => googlePubsub(options as never))).toMatch(/fetch.*function/)
  })
})

describe('a signed time in ISO 8601', () => {
  const orb = (unit: 'iso' | 'iso-utc') =>
    hmac({
      secret,
      header: 'x-orb-signature',
      prefix: 'v1=',
      signed: 'v1:{timestamp}:{body}',
      timestamp: { in: 'header:x-orb-timestamp', unit },
      id: 'json:id',
    })
  const at = (stamp: string) => {
    const body = '{"id":"1","type":"x"}'
    const signature = createHmac('sha256', secret).update(`v1:${stamp}:${body}`).digest('hex')
    const headers = { 'x-orb-timestamp': stamp, 'x-orb-signature': `v1=${signature}` }
    return { method: 'POST', url: '/', headers, body: Buffer.from(body) }
  }

  test('without a zone is UTC if the rule says so, in every time zone', async () => {
    const source = orb('iso-utc')
    const before = process.env.TZ
    try {
      for (const zone of ['UTC', 'Asia/Tokyo', 'America/New_York']) {
        process.env.TZ = zone
        for (const stamp of ['2023-11-14T22:13:20', '2023-11-14T22:13:20.123456', '2023-11-14T22:13:20Z'])
          expect(await source.verify(at(stamp), { now }), stamp).toMatchObject({ ok: true })
        expect(await source.verify(at('2023-11-14T22:07:00'), { now })).toEqual({
          ok: false,
          reason: 'stale_timestamp',
        })
      }
    } finally {
      if (before === undefined) delete process.env.TZ
      else process.env.TZ = before
    }
    const own = await source.sign({ body: '{"id":"1"}', now })
    expect(own.headers['x-orb-timestamp']).toBe('2023-11-14T22:13:20.000')
    expect(await source.verify(own, { now })).toMatchObject({ ok: true })
  })

  test('is refused without a zone otherwise', async () => {
    expect(await orb('iso').verify(at('2023-11-14T22:13:20'), { now })).toEqual({
      ok: false,
      reason: 'malformed_timestamp',
    })
  })
})

describe('a value that would verify nothing', () => {
  test('an API key is not a signing secret', () => {
    for (const [make, key] of [
      [stripe, 'sk_test_51abcdefghijklmnopqrstuvwxyz'],
      [stripe, 'rk_live_51abcdefghijklmnopqrstuvwxyz'],
      [clerk, 'sk_test_abcdefghijklmnopqrstuvwxyz'],
      [resend, 're_abcdefgh_ijklmnopqrstuvwxyz012345'],
    ] as const) {
      const message = messageOf(() => make({ secret: key }))
      expect(message).toMatch(
        /^SECRET_FORM: .*must be the signing secret of the endpoint.* this is an API key/,
      )
      expect(message).not.toContain(key)
    }
  })

  test('hmac names the encodings and digests it has', () => {
    const generic = { secret, header: 'x-signature', id: 'json:id' } as const
    expect(messageOf(() => hmac({ ...generic, encoding: 'rot13' as never }))).toMatch(
      /INVALID_INPUT: hmac\(\)\.encoding must be "hex" or "base64" or "base64url"/,
    )
    expect(messageOf(() => hmac({ ...generic, algorithm: 'md9' as never }))).toMatch(
      /INVALID_INPUT: hmac\(\)\.algorithm must be "sha1" or "sha256"/,
    )
  })

  test('a template of signed content covers the body, or a field of it', () => {
    const generic = { secret, header: 'x-signature', id: 'json:id' } as const
    const timestamp = { in: 'header:x-time', unit: 's' } as const
    const signing = (signed: string) => () => hmac({ ...generic, timestamp, signed })
    expect(messageOf(signing('{timestamp}'))).toMatch(
      /INVALID_INPUT: hmac\(\) needs `signed` to cover the body/,
    )
    expect(messageOf(signing('{timestamp}.{header:x-id}'))).toMatch(/cover the body/)
    for (const covering of ['{timestamp}.{body}', '{timestamp}{json:id}', '{timestamp}.{crc32}'])
      expect(signing(covering)).not.toThrow()
  })
})
