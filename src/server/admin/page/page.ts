/**
 * The built-in page at the root: the latest events, and how to send one. It is rendered on the server, and the template
 * escapes every value; the script only inserts text. The option `static` replaces it with a dashboard.
 */
import { html } from 'hono/html'
import type { HookonceError } from '../../../errors.js'
import type { Authenticated } from '../access.js'
import type { EventView } from '../views.js'

export interface PageFacts {
  readonly basePath: string
  readonly access: Authenticated
  readonly events: readonly EventView[]
  /** The origin of this page, for the examples. */
  readonly origin: string
  /** A source for the example, and whether it accepts deliveries without a signature. */
  readonly example: { readonly name: string; readonly unverified: boolean } | null
}

type Markup = ReturnType<typeof html>

export function eventsPage({ basePath, access, events, origin, example }: PageFacts): Promise<Response> {
  const signOut = access.by === 'session' ? html`<button type="button" id="sign-out">Sign out</button>` : ''
  return page(
    basePath,
    200,
    html`<p>Webhooks are delivered at least once. hookonce records each event once, and runs its handler so that its
effect happens once.</p>
<p>Signed in as <b>${access.actor}</b> (${access.role}). ${signOut}</p>
<h2>Latest events</h2>
<p id="note" role="status"></p>
<table>
<thead><tr><th>received</th><th>source</th><th>type</th><th>id</th><th>reference</th><th>state</th></tr></thead>
<tbody id="events">${events.map(row)}</tbody>
</table>
${events.length === 0 ? html`<p id="none">Nothing has been received yet.</p>` : ''}
<h2>Send one</h2>
${sending(origin, example)}
<h2>The API</h2>
<p>Everything here and more: <a href="${basePath}/api/openapi.json">api/openapi.json</a>,
<a href="${basePath}/api/events">api/events</a>, <a href="${basePath}/api/stats">api/stats</a>.</p>`,
    html`<script src="${basePath}/page.js" defer></script>`,
  )
}

function row(event: EventView): Markup {
  return html`<tr data-seq="${event.seq}"><td><time>${event.receivedAt}</time></td><td>${event.source}</td>
<td>${event.type}</td><td>${event.id}</td><td>${event.reference ?? ''}</td>
<td>${event.dead ? 'dead letter' : event.state}</td></tr>`
}

function sending(origin: string, example: PageFacts['example']): Markup {
  if (example === null) return html`<p>No source is configured yet.</p>`
  const { name, unverified } = example
  if (!unverified)
    return html`<p>Signed as its sender would:</p><pre>npx hookonce send ${name} --to ${origin}</pre>`
  return html`<p>Source <b>${name}</b> accepts deliveries without a signature:</p>
<pre>curl -d '{"id":"evt_1","type":"order.paid"}' -H 'content-type: application/json' ${origin}/webhooks/${name}</pre>`
}

/** The form works without a script. `error`: why the last sign-in failed. */
export function signInPage(basePath: string, error: HookonceError | null): Promise<Response> {
  return page(
    basePath,
    error?.httpStatus ?? 401,
    html`<form method="post" action="${basePath}/api/sessions">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button type="submit">Sign in</button>
</form>
${error === null ? '' : html`<p role="alert">${error.message}</p>`}`,
  )
}

/** The caller may not see the page. */
export function refusedPage(basePath: string, error: HookonceError): Promise<Response> {
  return page(basePath, error.httpStatus, html`<p role="alert">${error.message}</p>`)
}

async function page(
  basePath: string,
  status: number,
  body: Markup,
  head: Markup | string = '',
): Promise<Response> {
  const text = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>hookonce</title>
<link rel="stylesheet" href="${basePath}/page.css">
${head}
</head>
<body data-base="${basePath}">
<main>
<h1>hookonce</h1>
${body}
</main>
</body>
</html>
`
  return new Response(String(text), { status, headers: { 'content-type': 'text/html; charset=utf-8' } })
}

/** The style and the script are constants: no value is put into them. */
export const pageCss = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 0; background: Canvas; color: CanvasText; }
main { max-width: 70rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.4rem; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
th, td { text-align: left; padding: 0.3rem 0.5rem; border-bottom: 1px solid color-mix(in srgb, CanvasText 20%, Canvas); overflow-wrap: anywhere; vertical-align: top; }
td, pre { font-family: ui-monospace, monospace; font-size: 0.87rem; }
pre { padding: 0.75rem; overflow-x: auto; background: color-mix(in srgb, CanvasText 6%, Canvas); }
input, button { font: inherit; padding: 0.3rem 0.6rem; }
a { color: LinkText; }
:focus-visible { outline: 2px solid Highlight; outline-offset: 2px; }
@media (max-width: 40rem) { th:nth-child(5), td:nth-child(5) { display: none; } }
`

/**
 * Values are inserted as text, never as markup. A row has the seq of its event, so an event that comes twice is shown
 * once.
 */
export const pageScript = `'use strict'
const base = document.body.dataset.base
const rows = document.getElementById('events')
const note = document.getElementById('note')
const SHOWN = 20

function cell(text) {
  const td = document.createElement('td')
  td.textContent = text
  return td
}

function show(event) {
  if (rows.querySelector('tr[data-seq="' + Number(event.seq) + '"]')) return
  const newest = rows.firstElementChild ? Number(rows.firstElementChild.dataset.seq) : 0
  if (event.seq < newest) return
  const tr = document.createElement('tr')
  tr.dataset.seq = String(event.seq)
  const state = event.dead ? 'dead letter' : event.state
  tr.append(...[event.receivedAt, event.source, event.type, event.id, event.reference || '', state].map(cell))
  rows.prepend(tr)
  while (rows.children.length > SHOWN) rows.lastElementChild.remove()
  const none = document.getElementById('none')
  if (none) none.remove()
}

const stream = new EventSource(base + '/api/stream')
stream.addEventListener('recorded', (message) => show(JSON.parse(message.data)))
stream.addEventListener('gap', () => {
  note.textContent = 'Some events were removed before they could be shown here. Reload the page to see the events in the log.'
})
stream.addEventListener('open', () => { note.textContent = 'Live.' })
stream.addEventListener('error', () => { note.textContent = 'Not live: the connection is lost.' })

const signOut = document.getElementById('sign-out')
if (signOut) {
  signOut.addEventListener('click', async () => {
    await fetch(base + '/api/sessions', { method: 'DELETE' })
    location.reload()
  })
}
`
