/** The files beside the page. They are served as they stand here: no value goes into them. */
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

/** What arrives is put in as text, never as markup. A row is known by its seq, so one that comes twice is shown once. */
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
  note.textContent = 'Some events were removed before they could be shown here. Reload the page for what there is.'
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
