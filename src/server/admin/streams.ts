/**
 * New events as server-sent events. A stream buffers nothing: it is a position in the log, and it reads the next page
 * when the reader has received the last one. A reader that receives nothing for too long is disconnected, and continues
 * at its position with `Last-Event-ID`.
 */
import { HookonceError } from '../../errors.js'
import type { WholeInbox } from '../../inbox/internals.js'
import type { Position } from '../../model.js'
import { eventView, statsView } from './views.js'
import type { Wakes } from './wakes.js'

export interface StreamTimes {
  readonly statsMs: number
  readonly heartbeatMs: number
  readonly stallMs: number
}

export const streamTimes: StreamTimes = { statsMs: 2_000, heartbeatMs: 15_000, stallMs: 30_000 }

export interface StreamOptions {
  readonly source?: string | undefined
  /** Null: start a little before the newest event, to include events whose commit is late. */
  readonly after: Position | null
  readonly detail: boolean
  /** The stream ends with the access of its reader. */
  readonly expiresAt: number
}

export interface Streams {
  open(options: StreamOptions): ReadableStream<Uint8Array>
  readonly size: number
  close(): void
}

const PAGE = 100

export function createStreams(
  inbox: WholeInbox,
  wakes: Wakes,
  most: number,
  times: StreamTimes = streamTimes,
): Streams {
  const cuts = new Set<() => void>()
  const stats = sharedStats(inbox, times.statsMs)

  function open(options: StreamOptions): ReadableStream<Uint8Array> {
    if (cuts.size >= most) throw new HookonceError('STREAMS_FULL', { most })
    const ended = new AbortController()
    const frames = framesOf(options, ended.signal)
    let stall: NodeJS.Timeout | undefined
    function end(): void {
      clearTimeout(stall)
      cuts.delete(cut)
      ended.abort()
    }
    let cut = (): void => {}
    return new ReadableStream<Uint8Array>(
      {
        start(controller) {
          cut = () => {
            end()
            controller.error(new Error('the stream was cut'))
          }
          cuts.add(cut)
          stall = setTimeout(cut, times.stallMs).unref()
        },
        async pull(controller) {
          clearTimeout(stall)
          const next = await frames.next().catch((error) => {
            end() // the log cannot be read now; the reader connects again and continues at its position
            throw error
          })
          if (ended.signal.aborted) return
          if (next.done) {
            end()
            return controller.close()
          }
          controller.enqueue(Buffer.from(next.value))
          stall = setTimeout(cut, times.stallMs).unref()
        },
        cancel: end,
      },
      { highWaterMark: 0 },
    )
  }

  async function* framesOf(options: StreamOptions, signal: AbortSignal): AsyncGenerator<string> {
    const { source, detail, expiresAt } = options
    yield 'retry: 2000\n\n'
    const store = await inbox.store()
    let position = options.after ?? (await recentPosition(inbox))
    let mayMiss = options.after !== null
    let shownStats = ''
    let lastSentAt = performance.now()
    while (!signal.aborted && Date.now() < expiresAt) {
      const count = wakes.count()
      const page = await store.tail({ after: position, limit: PAGE, ...(source ? { source } : {}) })
      const frames: string[] = []
      if (page.gap && mayMiss) frames.push(frame('gap', { after: position, position: page.position }))
      for (const event of page.events) frames.push(frame('recorded', eventView(event, detail)))
      position = page.position
      mayMiss = true
      const latest = await stats()
      if (latest !== shownStats) {
        shownStats = latest
        frames.push(`event: stats\ndata: ${latest}\n`)
      }
      // A comment line keeps the connection open without an event for the reader.
      if (frames.length === 0 && performance.now() - lastSentAt >= times.heartbeatMs)
        frames.push(': still here\n')
      if (frames.length > 0) {
        // Only the last frame of a page has an id: a reader that loses the connection within a page gets the whole page
        // again.
        yield `${frames.join('\n')}id: ${position}\n\n`
        lastSentAt = performance.now()
      }
      if (page.events.length === PAGE) continue
      if (!(await wakes.wait(count, Math.min(times.statsMs, times.heartbeatMs), signal))) return
    }
  }

  return {
    open,
    get size() {
      return cuts.size
    },
    close() {
      for (const cut of [...cuts]) cut()
    },
  }
}

function frame(event: string, value: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(value)}\n`
}

async function recentPosition(inbox: WholeInbox): Promise<Position> {
  const { events } = await inbox.events.list({}, { limit: 1 })
  return Math.max(0, (events[0]?.seq ?? 0) - PAGE)
}

/** One query for all streams. */
function sharedStats(inbox: WholeInbox, everyMs: number): () => Promise<string> {
  let askedAt = Number.NEGATIVE_INFINITY
  let known = Promise.resolve('')
  return () => {
    if (performance.now() - askedAt >= everyMs) {
      askedAt = performance.now()
      known = inbox.events.stats().then((stats) => JSON.stringify(statsView(stats)))
    }
    return known
  }
}
