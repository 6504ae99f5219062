/** Exports a list as a download, page by page: nothing stays in memory, and a closed connection ends it. */
import type { WholeInbox } from '../../inbox/internals.js'
import type { EventFilter, EventPage } from '../../model.js'
import { type EventView, eventView } from './views.js'

export const formats = ['ndjson', 'csv'] as const
export type Format = (typeof formats)[number]

const PAGE = 500
const columns = [
  'source',
  'id',
  'type',
  'reference',
  'state',
  'dead',
  'reason',
  'receivedAt',
  'processedAt',
  'attempts',
  'deliveries',
  'conflicts',
  'sameAs',
] as const satisfies readonly (keyof EventView)[]

/** Reads the first page before the answer begins: a filter that the store refuses is a 400, not a broken download. */
export async function exportBody(
  inbox: WholeInbox,
  filter: EventFilter,
  { format, limit, detail }: { readonly format: Format; readonly limit: number; readonly detail: boolean },
): Promise<ReadableStream<Uint8Array>> {
  let cursor: string | null = null
  let left = limit
  const read = () => inbox.events.list(filter, { limit: Math.min(PAGE, left), cursor })
  let first: EventPage | null = await read()
  let begun = false
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let text = !begun && format === 'csv' ? `${columns.join(',')}\r\n` : ''
      begun = true
      // A page may be empty and have a next one, and a stream that enqueues nothing is not asked again.
      do {
        const page: EventPage = first ?? (await read())
        first = null
        text += page.events.map((event) => lineOf(eventView(event, detail), format)).join('')
        left -= page.events.length
        cursor = page.next
      } while (text === '' && cursor !== null)
      if (text !== '') controller.enqueue(Buffer.from(text))
      if (cursor === null || left <= 0) controller.close()
    },
  })
}

function lineOf(event: EventView, format: Format): string {
  if (format === 'ndjson') return `${JSON.stringify(event)}\n`
  return `${columns.map((column) => cell(event[column])).join(',')}\r\n`
}

/** A spreadsheet would run a text that begins like a formula. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = String(value)
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
