import type { EventRecord } from '../model.js'
import type { Inspect } from '../store/inspect.js'

/** Copies for a consumer are younger in the log than when they were received. */
const LOOKED_AT = 100

/** The unfinished event that was received first, whenever it is due; undefined when all events are finished. */
export async function oldestUnfinished(inspect: Inspect): Promise<EventRecord | undefined> {
  const [first, ...others] = await inspect.oldest(LOOKED_AT)
  return first && others.reduce((oldest, one) => (one.receivedAt < oldest.receivedAt ? one : oldest), first)
}
