/**
 * The small page at the root: what this is, the latest events, how to send one. Made on the server, with every value
 * escaped by the template; the script only adds text. A dashboard may take its place (`static`).
 */
import { html } from 'hono/html'
import type { HookonceError } from '../../../errors.js'
import type { Authenticated } from '../access.js'
import type { EventView } from '../views.js'

export interface PageFacts {
  readonly basePath: string
  readonly access: Authenticated
  readonly events: readonly EventView[]
  /** How this page was reached, for examples. */
  readonly origin: string
  /** A source to send to, and whether it takes deliveries without a signature. */
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
  return html`<p>Source <b>${name}</b> takes what is not signed:</p>
<pre>curl -d '{"id":"evt_1","type":"order.paid"}' -H 'content-type: application/json' ${origin}/webhooks/${name}</pre>`
}

/** The form works without a script. `error`: the last try did not. */
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

/** Signed in, or not, but not for this page. */
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
