import { type ContentFunction, defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/**
 * Method, path, the headers that x-contentful-signed-headers lists in alphabetical order, and the body, one per line, as
 * in @contentful/node-apps-toolkit. The list itself and the timestamp must be among the signed headers.
 */
const signedRequest: ContentFunction = () => (reading) => {
  const path = encodedPath(reading.path)
  const names = reading.header('x-contentful-signed-headers')?.split(',').sort() ?? []
  // A long header that is listed a thousand times would be signed a thousand times.
  if (new Set(names).size !== names.length) return null
  const lines = names.map((name) => `${name}:${reading.header(name)?.trim()}`)
  if (path === null || names.some((name) => reading.header(name) === undefined)) return null
  if (!names.includes('x-contentful-signed-headers') || !names.includes('x-contentful-timestamp')) return null
  return [`${reading.delivery.method}\n${path}\n${lines.join(';')}\n`, reading.delivery.body]
}

/** The query is escaped as one text, then path and query again. The toolkit would drop the text after a second `?`. */
function encodedPath(path: string): string | null {
  const [base, query, ...rest] = path.split('?')
  if (rest.length > 0 || !path.isWellFormed()) return null
  return encodeURI(query ? `${base}?${encodeURIComponent(query)}` : base!)
}

export const contentful = defineProvider({
  key: 'contentful',
  name: 'Contentful',
  docs: 'https://www.contentful.com/developers/docs/webhooks/request-verification/',
  confidence: 'verified',
  aliases: { signingSecret: 'secret' },
  verify: hmacScheme({
    signature: 'header:x-contentful-signature',
    encoding: 'hex',
    signed: signedRequest,
    // The path is covered, the host is not. Other headers are covered only if the list names them.
    covers: { body: 'bytes', fields: ['header:x-contentful-signed-headers'] },
    timestamp: { in: 'header:x-contentful-timestamp', unit: 'ms', tolerance: seconds(30) },
  }),
  events: {
    id: 'header:x-contentful-idempotency-key',
    type: 'header:x-contentful-topic',
    reference: 'json:sys.id',
  },
  retryWindowMs: null,
  keepHeaders: ['x-contentful-topic', 'x-contentful-webhook-name', 'x-contentful-idempotency-key'],
  sampleHeaders: {
    'content-type': 'application/vnd.contentful.management.v1+json',
    'x-contentful-webhook-name': 'hookonce',
    'x-contentful-signed-headers':
      'content-type,x-contentful-signed-headers,x-contentful-timestamp,x-contentful-topic',
  },
  samples: sampleFile('contentful'),
})
