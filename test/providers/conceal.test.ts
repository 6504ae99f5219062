/** A secret is masked in the texts of errors, in whatever form a library or an application writes it. */
import { randomBytes } from 'node:crypto'
import { adyen, github, stripe } from 'hookonce/providers'
import { describe, expect, test } from 'vitest'

const key = randomBytes(32)
const plain = 'p@ss "word"/with+odd ünder_scores?'
const secrets = {
  'a plain text': [github({ secret: plain }), plain, Buffer.from(plain)],
  'base64 with a prefix': [
    stripe({ secret: `whsec_${key.toString('base64')}` }),
    key.toString('base64'),
    key,
  ],
  hexadecimal: [adyen({ secret: key.toString('hex') }), key.toString('hex'), key],
} as const

/** What other programs make of a secret. */
const forms: readonly (readonly [string, (text: string, bytes: Buffer) => string])[] = [
  ['itself', (text) => text],
  ['in JSON', (text) => JSON.stringify(text).slice(1, -1)],
  ['in a URL', (text) => encodeURIComponent(text)],
  ['its bytes in base64', (_, bytes) => bytes.toString('base64')],
  ['its bytes in base64url', (_, bytes) => bytes.toString('base64url')],
  ['its bytes in hex', (_, bytes) => bytes.toString('hex')],
  ['its bytes in upper case hex', (_, bytes) => bytes.toString('hex').toUpperCase()],
  ['its text in base64', (text) => Buffer.from(text).toString('base64')],
  ['its text in base64url', (text) => Buffer.from(text).toString('base64url')],
  ['its text in hex', (text) => Buffer.from(text).toString('hex')],
  ['its text in base64 in a URL', (text) => encodeURIComponent(Buffer.from(text).toString('base64'))],
]

describe.each(Object.entries(secrets))('a secret that is %s', (_, [source, text, bytes]) => {
  test.each(forms)('%s', (_form, write) => {
    const form = write(text, bytes)
    expect(source.conceal!(`the call failed with ${form}, sorry`)).toBe('the call failed with ***, sorry')
  })

  test.each(['', 'a', 'ab', 'abc', 'user:'])('its text in the base64 of %j and itself and more', (before) => {
    const form = Buffer.from(`${before}${text}!!`).toString('base64')
    const concealed = source.conceal!(`Authorization: ${form}`)
    expect(concealed).toContain('***')
    // What is left are the digits that the text around it decides.
    expect(concealed.length).toBeLessThan(
      'Authorization: '.length + Math.ceil((before.length + 4) / 3) * 4 + 12,
    )
  })
})

test('ordinary words are not masked', () => {
  const text = 'the order 4711 of the customer could not be paid: card_declined'
  for (const [source] of Object.values(secrets)) expect(source.conceal!(text)).toBe(text)
})
