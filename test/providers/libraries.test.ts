/**
 * Deliveries that the senders' own libraries accepted on 2026-11-16; the libraries are not installed here. A change of the
 * rules that would no longer verify them fails.
 */
import {
  adyenPlatform,
  elevenlabs,
  lithic,
  modernTreasury,
  mux,
  onfido,
  orb,
  replicate,
  retell,
  telnyx,
} from 'hookonce/providers'
import { expect, test } from 'vitest'

const now = 1_794_838_204_237
const body = '{"made":"for a test"}'
const secret = 'secret-of-the-endpoint-123'
const standardSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

test.each([
  [
    '@adyen/api-library 32.1.0',
    adyenPlatform({ secret: '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056' }),
    { hmacsignature: 'OOtE+zlRBSwAmpLkxylu8UjIlZLECQZAKEDcAlbzyD4=' },
  ],
  [
    '@elevenlabs/elevenlabs-js 2.73.0',
    elevenlabs({ secret }),
    {
      'elevenlabs-signature':
        't=1794838204,v0=8524bb144ca4acc969de3e530efa74bb4db3d80e165c1f73008d4fed74529878',
    },
  ],
  [
    'lithic 0.145.0',
    lithic({ secret: standardSecret }),
    {
      'webhook-id': 'msg_1',
      'webhook-timestamp': '1794838204',
      'webhook-signature': 'v1,fH5EroTW4LmPxz51PdWlOsP4bvGudsiLaJkUAP8bnB0=',
    },
  ],
  [
    'modern-treasury 3.3.0',
    modernTreasury({ secret }),
    {
      'x-webhook-id': 'msg_1',
      'x-signature': '017346eb244ab8cf9af1d7b3e969a153ef23fa8c87fbd4a162c91b2564bdbdc4',
    },
  ],
  [
    '@mux/mux-node 15.3.0',
    mux({ secret }),
    { 'mux-signature': 't=1794838204,v1=8524bb144ca4acc969de3e530efa74bb4db3d80e165c1f73008d4fed74529878' },
  ],
  [
    '@onfido/api 6.2.0',
    onfido({ secret }),
    { 'x-sha2-signature': '017346eb244ab8cf9af1d7b3e969a153ef23fa8c87fbd4a162c91b2564bdbdc4' },
  ],
  [
    'orb-billing 6.11.0',
    orb({ secret }),
    {
      'x-orb-timestamp': '2026-11-16T14:10:04.237',
      'x-orb-signature': 'v1=5de5c8cb39c5cdb85fa03d7719874f2341136a8aa3366984f9684f853b5786b7',
    },
  ],
  [
    'replicate 1.4.0',
    replicate({ secret: standardSecret }),
    {
      'webhook-id': 'msg_1',
      'webhook-timestamp': '1794838204',
      'webhook-signature': 'v1,fH5EroTW4LmPxz51PdWlOsP4bvGudsiLaJkUAP8bnB0=',
    },
  ],
  [
    'retell-sdk 5.66.1',
    retell({ secret }),
    {
      'x-retell-signature':
        'v=1794838204237,d=37653809fac2cdb535bb085e95a4eb03f224436d1b41fa678a00e88f8913a477',
    },
  ],
  [
    'telnyx 7.24.0',
    telnyx({ publicKey: 'JLDrsH2aLmmeqxf+2YJ0cJCv3AFPUcUo6aXwhRngdIo=' }),
    {
      'telnyx-timestamp': '1794838204',
      'telnyx-signature-ed25519':
        'eSpPi7mdujSlrMEDXR7o1k4A1IMRI1CQzjpFSAYdlAo8dDr72pZMJrJXGnuaTTOnqwvqrCeuaqZ+fj0xzv67AQ==',
    },
  ],
])('%s accepts what this source accepts', (_library, source, headers) => {
  const delivery = (text: string) => ({
    method: 'POST',
    url: 'https://example.com/hook',
    headers: headers as unknown as Record<string, string>,
    body: new TextEncoder().encode(text),
  })
  expect(source.verify(delivery(body), { now })).toEqual({ ok: true, secretIndex: 0 })
  expect(source.verify(delivery(`${body} `), { now })).toMatchObject({ ok: false })
})
