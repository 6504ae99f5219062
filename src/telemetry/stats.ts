/** The log's own statistics for metrics and alerts: asked for at most once in a while, and not waited for long. */
import { valueWithin } from '../clock.js'
import type { Inbox } from '../inbox.js'
import type { SourceStats } from '../model.js'

/** Many scrapers and alerts share one answer of the store. */
const KEEP_MS = 1_500
const WAIT_MS = 2_000

interface Asked {
  readonly at: number
  readonly answer: Promise<readonly SourceStats[] | null>
}
const asked = new WeakMap<Inbox, Asked>()

/** Null when the store did not answer in time. */
export function statsOf(inbox: Inbox): Promise<readonly SourceStats[] | null> {
  const last = asked.get(inbox)
  if (last && performance.now() - last.at < KEEP_MS) return last.answer
  const answer = valueWithin(inbox.events.stats(), WAIT_MS, null).catch(() => null)
  asked.set(inbox, { at: performance.now(), answer })
  return answer
}
