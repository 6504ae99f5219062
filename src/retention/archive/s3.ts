/** An archive in S3 or a compatible service (MinIO, R2, Ceph): requests in path style, signed by aws4fetch. */
import { AwsClient } from 'aws4fetch'
import type { Duration } from '../../duration.js'
import { invalid } from '../../errors.js'
import { checkedMs } from '../../options.js'
import { archiveRun } from './run.js'
import { type ArchiveTarget, type ArchiveVerb, archiveFailed, MOST_BYTES, withRun } from './target.js'

export interface S3Options {
  /** `https://s3.eu-central-1.amazonaws.com`, `http://localhost:9000`, ... */
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  /** Added in front of the name of every object. */
  readonly prefix?: string
  /** Time limit of a request. Default `'60s'`. */
  readonly timeout?: Duration
}

const RETRIES = 3

export function s3(options: S3Options): ArchiveTarget {
  const { endpoint, bucket, region, accessKeyId, secretAccessKey } = options
  for (const [name, value] of Object.entries({ endpoint, bucket, region, accessKeyId, secretAccessKey }))
    if (typeof value !== 'string' || value.trim() === '') throw invalid('s3()', `needs \`${name}\``)
  const timeoutMs = checkedMs('s3(): `timeout`', options.timeout, '60s')
  if (!URL.canParse(endpoint)) throw invalid('s3(): `endpoint`', 'must be a URL')
  const { sessionToken, prefix = '' } = options
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    region,
    service: 's3',
    retries: RETRIES,
    ...(sessionToken ? { sessionToken } : {}),
  })
  const base = `${endpoint.replace(/\/+$/, '')}/${encodeURIComponent(bucket)}`
  const before = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`
  const name = `s3 ${new URL(endpoint).host}/${bucket}`
  const urlOf = (path: string) => `${base}/${`${before}${path}`.split('/').map(encodeURIComponent).join('/')}`

  async function send(verb: ArchiveVerb, path: string, url: string, init: RequestInit = {}) {
    try {
      return await client.fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) })
    } catch (error) {
      const { cause, name: kind } = error as Error & { cause?: { code?: string } }
      throw archiveFailed(name, verb, path, cause?.code ?? kind)
    }
  }

  /** The text of the response may quote the request, so only its code is passed on. */
  async function insist(response: Response, verb: ArchiveVerb, path: string): Promise<void> {
    if (response.ok) return
    const code = /<Code>(\w+)<\/Code>/.exec(await response.text().catch(() => ''))?.[1]
    throw archiveFailed(name, verb, path, `HTTP ${response.status}${code ? ` ${code}` : ''}`)
  }

  async function put(path: string, bytes: Uint8Array, headers: Record<string, string>): Promise<Response> {
    const body = bytes as Uint8Array<ArrayBuffer>
    const response = await send('write', path, urlOf(path), { method: 'PUT', body, headers })
    if (response.status !== 412) await insist(response, 'write', path)
    return response
  }

  async function read(path: string): Promise<Uint8Array | null> {
    const response = await send('read', path, urlOf(path))
    if (response.status === 404 && !(await isBucketMissing(response.clone()))) return null
    await insist(response, 'read', path)
    if (Number(response.headers.get('content-length') ?? 0) > MOST_BYTES)
      throw archiveFailed(name, 'read', path, 'it is larger than an object may be')
    return new Uint8Array(await response.arrayBuffer())
  }

  const target: ArchiveTarget = {
    name,
    read,
    // Some servers ignore If-None-Match, so a HEAD request comes first. Only one process archives at a time.
    async create(path, bytes) {
      const head = await send('read', path, urlOf(path), { method: 'HEAD' })
      if (head.ok) return false
      return (await put(path, bytes, { 'if-none-match': '*' })).status !== 412
    },
    async replace(path, bytes) {
      await put(path, bytes, {})
    },
    async *list(folder) {
      let token: string | null = null
      do {
        const query: URLSearchParams = new URLSearchParams({
          'list-type': '2',
          prefix: folder === '' ? before : `${before}${folder}/`,
          ...(token === null ? {} : { 'continuation-token': token }),
        })
        const response = await send('list', folder, `${base}?${query}`)
        await insist(response, 'list', folder)
        const xml = await response.text()
        for (const [, key = ''] of xml.matchAll(/<Key>([^<]*)<\/Key>/g))
          yield unescapeXml(key).slice(before.length)
        token = /<IsTruncated>true<\/IsTruncated>/.test(xml)
          ? unescapeXml(/<NextContinuationToken>([^<]*)</.exec(xml)?.[1] ?? '') || null
          : null
      } while (token !== null)
    },
  }
  return withRun(target, archiveRun)
}

async function isBucketMissing(response: Response): Promise<boolean> {
  return (await response.text().catch(() => '')).includes('<Code>NoSuchBucket</Code>')
}

function unescapeXml(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
