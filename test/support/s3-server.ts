/** A server for the calls of S3 that hookonce makes. It checks signatures (version 4) and lists two objects a page. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface S3Server {
  readonly endpoint: string
  close(): Promise<void>
}

export interface S3Account {
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

interface Reply {
  readonly status: number
  readonly body?: string | Buffer
}

const PAGE_LENGTH = 2
const MAX_SKEW_MS = 15 * 60_000

export async function startS3(account: S3Account): Promise<S3Server> {
  const objects = new Map<string, Buffer>()
  const server = createServer(async (request, response) => {
    const { status, body = '' } = reply(request, await buffer(request))
    response.writeHead(status).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  function reply(request: IncomingMessage, body: Buffer): Reply {
    const url = new URL(request.url ?? '', `http://${request.headers.host}`)
    const refusal = refused(account, request, url, body)
    if (refusal !== null) return failure(403, refusal)
    const [, bucket, ...names] = decodeURIComponent(url.pathname).split('/')
    if (bucket !== account.bucket) return failure(404, 'NoSuchBucket')
    const key = names.join('/')
    const stored = objects.get(key)
    if (request.method === 'PUT') {
      if (stored !== undefined && request.headers['if-none-match'] === '*')
        return failure(412, 'PreconditionFailed')
      objects.set(key, body)
      return { status: 200 }
    }
    if (key === '' && url.searchParams.get('list-type') === '2') return page(url.searchParams)
    return stored === undefined ? failure(404, 'NoSuchKey') : { status: 200, body: stored }
  }

  function page(query: URLSearchParams): Reply {
    const after = query.get('continuation-token')?.slice(1) ?? ''
    const keys = [...objects.keys()]
      .filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after)
      .sort()
    const shown = keys.slice(0, PAGE_LENGTH)
    const next = `<NextContinuationToken>${escaped(`&${shown.at(-1)}`)}</NextContinuationToken>`
    const isTruncated = keys.length > shown.length
    const contents = shown.map((key) => `<Contents><Key>${escaped(key)}</Key></Contents>`).join('')
    return {
      status: 200,
      body: `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${isTruncated ? next : ''}${contents}</ListBucketResult>`,
    }
  }

  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
function refused(account: S3Account, request: IncomingMessage, url: URL, body: Buffer): string | null {
  const { headers, method } = request
  const [, keyId, date, region, signedNames = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/.exec(
      headers.authorization ?? '',
    ) ?? []
  if (keyId === undefined) return 'AccessDenied'
  if (keyId !== account.accessKeyId) return 'InvalidAccessKeyId'
  const header = (name: string) => String(headers[name] ?? '')
  const time = header('x-amz-date')
  const isoTime = time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
  if (!(Math.abs(Date.parse(isoTime) - Date.now()) < MAX_SKEW_MS)) return 'RequestTimeTooSkewed'
  const names = signedNames.split(';')
  const mustBeSigned = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))]
  if (region !== account.region || mustBeSigned.some((name) => !names.includes(name))) return 'AccessDenied'
  const digest = header('x-amz-content-sha256')
  if (digest !== 'UNSIGNED-PAYLOAD' && digest !== sha256(body)) return 'XAmzContentSHA256Mismatch'
  const canonical = [
    method,
    url.pathname.split('/').map(decodeURIComponent).map(encoded).join('/'),
    [...url.searchParams]
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort()
      .join('&'),
    ...names.map((name) => `${name}:${header(name).trim()}`),
    '',
    signedNames,
    digest,
  ].join('\n')
  const scope = `${date}/${region}/s3/aws4_request`
  const key = [date!, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${account.secretAccessKey}`,
  )
  const wanted = hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n'))
  const given = Buffer.from(signature, 'hex')
  const isEqual = given.length === wanted.length && timingSafeEqual(given, wanted)
  return isEqual ? null : 'SignatureDoesNotMatch'
}

function failure(status: number, code: string): Reply {
  return { status, body: `<Error><Code>${code}</Code></Error>` }
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex')
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
