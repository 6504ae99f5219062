/**
 * Serves the dashboard. Its files contain no data: the page asks the API, which checks who may see what. Its addresses
 * are relative, so it works below any path, and behind a proxy that removes a part of the path.
 */
import { gunzipSync } from 'node:zlib'
import { HookonceError } from '../../../errors.js'
import type { DashboardFile } from './files.js'

/** Null when there is no page at this path, which starts after `basePath`. */
type Pages = (path: string, request: Request) => Promise<Response | null>

/** The first segment of the paths that the dashboard shows. Other paths are not found. */
const screens = new Set([
  '',
  'events',
  'dead-letters',
  'review',
  'sources',
  'handlers',
  'destinations',
  'workers',
  'system',
  'audit',
])

export function createPages(basePath: string, takesTokens: boolean): Pages {
  const decoded = new Map<string, Uint8Array<ArrayBuffer>>()

  function bytesOf(path: string, { gzip }: DashboardFile): Uint8Array<ArrayBuffer> {
    let bytes = decoded.get(path)
    if (bytes === undefined) {
      bytes = new Uint8Array(Buffer.from(gzip, 'base64'))
      decoded.set(path, bytes)
    }
    return bytes
  }

  /** A browser may cache assets: their names contain a hash of their content. */
  function asset(path: string, file: DashboardFile, request: Request): Response {
    const gzip = bytesOf(path, file)
    const headers = {
      'content-type': file.type,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
    }
    if (takesGzip(request)) return new Response(gzip, { headers: { ...headers, 'content-encoding': 'gzip' } })
    return new Response(new Uint8Array(gunzipSync(gzip)), { headers })
  }

  function front(path: string, file: DashboardFile): Response {
    const html = gunzipSync(bytesOf('/index.html', file))
      .toString('utf8')
      .replaceAll('"./assets/', `"${toBase(path, basePath)}assets/`)
      .replace('<html ', `<html data-sign-in="${takesTokens ? 'token' : 'application'}" `)
    return new Response(html, { headers: { 'content-type': file.type, 'cache-control': 'no-cache' } })
  }

  return async (path, request) => {
    const { files } = await import('./files.js')
    const file = files[path]
    if (file && path.startsWith('/assets/')) return asset(path, file, request)
    if (!screens.has(path.split('/')[1] ?? '')) return null
    const index = files['/index.html']
    if (index === undefined) throw new HookonceError('DASHBOARD_MISSING')
    return front(path, index)
  }
}

/** From the address of a page to the base path: `../../` for `/events/stripe/evt_1`. */
function toBase(path: string, basePath: string): string {
  if (path === '') return basePath === '' ? './' : `./${basePath.split('/').at(-1)}/`
  return `./${'../'.repeat(path.split('/').length - 2)}`
}

function takesGzip(request: Request): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0+)?\b)/i.test(request.headers.get('accept-encoding') ?? '')
}
