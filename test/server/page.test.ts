/** Whatever an event is called, the page and the API show it as text. */
import { runInNewContext } from 'node:vm'
import { createInbox, type Inbox, silentLog } from 'hookonce'
import { unverified } from 'hookonce/providers'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { pageScript } from '#dist/server/admin/page/page.js'
import { type RunningAdmin, startAdmin, tokenOf } from './support.js'

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
  const store = await inbox.store()
  await store.record(
    names.map((name, i) => ({
      source: name.slice(0, 60).toWellFormed(),
      headers: {},
      body: Buffer.from(name),
      onReplayedContent: 'review' as const,
      events: [
        { eventId: `${name} ${i}`, eventType: name, reference: name, contentHash: null, guardHash: null },
      ],
    })),
  )
}

/** The tags of a document, without what stands between them. */
function skeleton(html: string): string[] {
  return [...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replace(/data-seq="\d+"/, ''))
}

it('60 strings that would be code are text on the page, in every column', async () => {
  expect(cores.length).toBeGreaterThanOrEqual(50)
  running = await startAdmin(inbox)
  await record(Array.from({ length: 20 }, (_, i) => `plain${i}`))
  const plain = skeleton(await (await running.call('GET', '/')).text())
  for (let i = 0; i < cores.length; i += 20) {
    const names = cores.slice(i, i + 20)
    await record(names)
    const html = await (await running.call('GET', '/')).text()
    expect(skeleton(html)).toEqual(plain)
    const escaped = (text: string) =>
      text.replace(
        /[&<>"']/g,
        (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[char]!,
      )
    for (const name of names) expect(html).toContain(`<td>${escaped(name)}</td>`)
  }
})

it('the same strings come back from the API as they are, as JSON and as nothing else', async () => {
  running = await startAdmin(inbox)
  for (const [i, name] of cores.entries()) {
    const source = encodeURIComponent(name.slice(0, 60).toWellFormed())
    const id = `${name} ${i % 20}`
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

it('an error that quotes markup is text too', async () => {
  running = await startAdmin(inbox)
  const store = await inbox.store()
  const [claimed] = await store.claim({ worker: '<b>w</b>', limit: 1, leaseMs: 60_000 })
  const error = '<img src=x onerror=alert(1)>'
  await store.settle([
    { lease: claimed!.lease, outcome: { kind: 'failed', error, retryInMs: null }, durationMs: 1 },
  ])
  const path = `/api/events/${encodeURIComponent(claimed!.source)}/${encodeURIComponent(claimed!.eventId)}`
  expect(await running.json('GET', path)).toMatchObject({ reason: error, dead: true })
  expect(await running.json('GET', `${path}/attempts`)).toMatchObject({
    attempts: [{ worker: '<b>w</b>', detail: error }],
  })
  expect(await (await running.call('GET', '/')).text()).not.toContain(error)
})

/** As much of a browser as the script touches. Anything else it reached for would be undefined, and throw. */
function browser() {
  const listeners: Record<string, (message: { data: string }) => void> = {}
  class Node {
    textContent = ''
    dataset: Record<string, string> = {}
    children: Node[] = []
    get firstElementChild(): Node | null {
      return this.children[0] ?? null
    }
    get lastElementChild() {
      return { remove: () => this.children.pop() }
    }
    append(...nodes: Node[]) {
      this.children.push(...nodes)
    }
    prepend(node: Node) {
      this.children.unshift(node)
    }
    querySelector(selector: string) {
      const seq = /^tr\[data-seq="(\d+)"\]$/.exec(selector)![1]
      return this.children.find(({ dataset }) => dataset.seq === seq) ?? null
    }
  }
  const byId: Record<string, Node> = { events: new Node(), note: new Node() }
  const made: string[] = []
  const document = {
    body: { dataset: { base: '/admin' } },
    getElementById: (id: string) => byId[id] ?? null,
    createElement(name: string) {
      made.push(name)
      return new Node()
    },
  }
  const opened: string[] = []
  class EventSource {
    constructor(url: string) {
      opened.push(url)
    }
    addEventListener(event: string, listener: (message: { data: string }) => void) {
      listeners[event] = listener
    }
  }
  runInNewContext(pageScript, { document, EventSource })
  return { listeners, rows: byId.events!, note: byId.note!, made, opened }
}

it('the script of the page shows what comes as text, once each, newest first, and not without end', () => {
  const { listeners, rows, note, made, opened } = browser()
  expect(opened).toEqual(['/admin/api/stream'])
  const event = (seq: number) => ({
    seq,
    receivedAt: 't',
    source: 's',
    type: cores[0],
    id: cores[4],
    reference: null,
    state: 'failed',
    dead: true,
  })
  for (const seq of [1, 2, 2, 3, 1]) listeners.recorded!({ data: JSON.stringify(event(seq)) })
  expect(rows.children.map(({ dataset }) => dataset.seq)).toEqual(['3', '2', '1'])
  expect(rows.children[0]!.children.map(({ textContent }) => textContent)).toEqual([
    't',
    's',
    cores[0],
    cores[4],
    '',
    'dead letter',
  ])
  expect([...new Set(made)]).toEqual(['tr', 'td'])
  for (let seq = 4; seq < 40; seq++) listeners.recorded!({ data: JSON.stringify(event(seq)) })
  expect(rows.children).toHaveLength(20)
  listeners.gap!({ data: '{}' })
  expect(note.textContent).toContain('Reload')
  expect(pageScript).not.toMatch(
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|Function\(|setAttribute|\.src|\.href/,
  )
})

it('says what this is, how to send one and where the API is; and asks for a token who has none', async () => {
  running = await startAdmin(inbox, { basePath: '/admin' })
  for (const path of ['', '/']) {
    const response = await running.call('GET', path, { role: 'viewer' })
    const html = await response.text()
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    for (const part of [
      'its handler',
      '/webhooks/shop',
      '/admin/api/openapi.json',
      '/admin/page.js',
      '/admin/page.css',
    ]) {
      expect(html).toContain(part)
    }
  }
  expect((await running.call('GET', '/page.css', { role: null })).headers.get('content-type')).toContain(
    'text/css',
  )
  expect((await running.call('GET', '/page.js', { role: null })).headers.get('content-type')).toContain(
    'text/javascript',
  )
  const none = await running.call('GET', '/', { role: null })
  expect([none.status, await none.text()]).toMatchObject([
    401,
    expect.stringContaining('action="/admin/api/sessions"'),
  ])
  const worker = await running.call('GET', '/', { role: 'worker' })
  expect(worker.status).toBe(403)
  expect(tokenOf('admin')).not.toBe('')
})

it('a dashboard takes the place of the page, under the same rules', async () => {
  running = await startAdmin(inbox, {
    static: (path) =>
      path === '/' || path.startsWith('/assets/')
        ? new Response(`file ${path}`, { headers: { 'cache-control': 'max-age=60' } })
        : null,
  })
  const response = await running.call('GET', '/', { role: null })
  expect([response.status, await response.text()]).toEqual([200, 'file /'])
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(response.headers.get('cache-control')).toBe('max-age=60')
  expect(await (await running.call('GET', '/assets/a.js', { role: null })).text()).toBe('file /assets/a.js')
  expect((await running.call('GET', '/other', { role: null })).status).toBe(404)
})
