/** Broken builds of verification, forwarding and logs: forgeries accepted, requests sent astray, secrets shown. */

const exact = 'test/providers/exact-bytes.test.ts'
const catalogue = 'test/providers/catalogue.test.ts'

/** @type {import('./mutant.mjs').Mutant[]} */
export const securityMutants = [
  {
    name: 'JSON written again before it is verified',
    promise: 'The signature is checked over exactly the received bytes.',
    changes: [
      {
        file: 'src/verification/delivery/template.ts',
        find: 'else if (piece === body) chunks.push(reading.delivery.body)',
        replace:
          'else if (piece === body) chunks.push((() => { try { return JSON.stringify(JSON.parse(Buffer.from(reading.delivery.body).toString())) } catch { return reading.delivery.body } })())',
      },
    ],
    tests: [{ file: exact, title: 'not over the same JSON written again' }],
  },
  {
    name: 'comparison cut to the shorter length',
    promise: 'No prefix of a signature is accepted.',
    changes: [
      {
        file: 'src/verification/schemes/hmac.ts',
        find: 'const bytes = decodeExact(text, encoding, length)\n            if (bytes !== null)',
        replace: 'const bytes = decodeExact(text, encoding)\n            if (bytes !== null)',
      },
      {
        file: 'src/verification/schemes/hmac.ts',
        find: 'if (timingSafeEqual(bytes, expected)) return index',
        replace: 'if (timingSafeEqual(bytes, expected.subarray(0, bytes.length))) return index',
      },
    ],
    tests: [{ file: catalogue, title: 'every truncation of the signature is refused' }],
  },
  {
    name: 'tolerance on one side',
    promise: 'A signed time is compared with the clock on both sides.',
    changes: [
      {
        file: 'src/verification/schemes/timestamp.ts',
        find: "return at > now + toleranceMs ? 'future_timestamp' : null",
        replace: 'return null',
      },
    ],
    tests: [{ file: catalogue, title: 'a timestamp outside the window is refused, on both sides' }],
  },
  {
    name: 'timestamp read by parseInt',
    promise: 'A signed time is parsed strictly.',
    changes: [
      {
        file: 'src/verification/schemes/timestamp.ts',
        find: "if (!digits.test(text)) return null\n    return unit === 's' ? Number(text) * 1_000 : Number(text)",
        replace:
          "if (Number.isNaN(Number.parseInt(text, 10))) return null\n    return unit === 's' ? Number.parseInt(text, 10) * 1_000 : Number.parseInt(text, 10)",
      },
    ],
    tests: [{ file: exact, title: 'a signed time with letters behind it is refused' }],
  },
  {
    name: 'short secrets accepted',
    promise: 'A source with an empty or short secret does not start.',
    changes: [
      {
        file: 'src/verification/schemes/secret.ts',
        find: 'if (found < least) {',
        replace: 'if (bytes.length < 0) {',
      },
    ],
    tests: [{ file: catalogue, title: 'a missing, empty, blank or short secret throws' }],
  },
  {
    name: 'content hash as name without the signed time',
    promise: 'Equal bytes with another signed time are another event.',
    changes: [
      {
        file: 'src/verification/delivery/names.ts',
        find: 'JSON.stringify([timestamp ?? null, reading.slice])',
        replace: 'JSON.stringify([null, reading.slice])',
      },
      {
        file: 'src/verification/delivery/names.ts',
        find: 'for (const chunk of naming) digest.update(chunk)',
        replace: 'digest.update(reading.delivery.body)',
      },
    ],
    tests: [{ file: 'test/providers/names.test.ts', title: 'has an id of the signed time too' }],
  },
  {
    name: 'body limit removed',
    promise: 'A body over the limit is refused.',
    changes: [
      {
        file: 'src/intake/receive.ts',
        find: "if (delivery.body.byteLength > limits.bodyBytes) return 'body_too_large'\n",
        replace: '',
      },
    ],
    tests: [{ file: 'test/intake/answers.test.ts', title: 'too large a body 413' }],
  },
  {
    name: 'redirects followed',
    promise: 'A forwarded event goes to the checked address and nowhere else.',
    changes: [
      {
        file: 'src/forward/send.ts',
        find: 'const { httpStatus, headers } = await answerTo(request, limits)',
        replace:
          'const { httpStatus, headers } = await answerTo(request, limits)\n  if (httpStatus >= 300 && httpStatus < 400 && headers.location) {\n    const url = new URL(headers.location, outgoing.url)\n    return exchange({ ...outgoing, url }, [{ address: hostOf(url), family: 4 }], signal)\n  }',
      },
    ],
    tests: [
      { file: 'test/forward/destinations.test.ts', title: 'a redirect is a failure, and nobody goes there' },
    ],
  },
  {
    name: 'private addresses allowed',
    promise: 'A destination whose name resolves to a private address gets nothing.',
    changes: [
      {
        file: 'src/forward/guard.ts',
        find: 'for (const { address } of addresses) if (!isReachable(address, allow)) throw forbidden(what, address)\n',
        replace: '',
      },
    ],
    tests: [
      {
        file: 'test/forward/guard.test.ts',
        title: 'one address of a name that is not public refuses them all',
      },
    ],
  },
  {
    name: 'secret in a log line',
    promise: 'No secret and no payload byte is in a log line.',
    changes: [
      {
        file: 'src/intake/intake.ts',
        find: "return at('receive', earlyAnswer('unknown_source'))\n",
        replace:
          "return at('receive', earlyAnswer('unknown_source'))\n  observer.notRearmed({ source: name, id: JSON.stringify(delivery.headers) }, null)\n",
      },
    ],
    tests: [{ file: 'test/intake/secrecy.test.ts', title: 'a canary in the secret' }],
  },
  {
    name: 'private values left in an error',
    promise: 'The values at the paths of `redact` are not stored with an error, and not logged.',
    changes: [
      {
        file: 'src/processing/private-values.ts',
        find: 'if (at >= start) hidden[at] = 1',
        replace: 'if (at > start) hidden[at] = 1',
      },
    ],
    tests: [{ file: 'test/processing/redact.test.ts', title: 'exactly the values are masked' }],
  },
  {
    name: 'credentials stored with the delivery',
    promise: 'Only listed headers are stored.',
    changes: [
      {
        file: 'src/intake/new-delivery.ts',
        find: "'content-type', 'user-agent',",
        replace: "'content-type', 'authorization', 'user-agent',",
      },
    ],
    tests: [{ file: 'test/intake/secrecy.test.ts', title: 'a canary in the secret' }],
  },
  {
    name: 'known content under a new id is handled again',
    promise: 'A captured delivery under a new id goes to the review list.',
    changes: [
      {
        file: 'src/stores/sqlite/record-insert.ts',
        find: 'const withheld = sameAs !== null && !handles',
        replace: 'const withheld = false',
      },
    ],
    tests: [
      {
        file: 'test/stores/sqlite.test.ts',
        title: 'known signed bytes under a new id go to the review list',
      },
    ],
  },
]
