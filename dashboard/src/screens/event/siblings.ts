import type { EventView } from '../../api/client'

/** The same id at another source is another event. */
export function siblingsOf(event: EventView, found: readonly EventView[]): EventView[] {
  const followed = followedOf(event)
  return found
    .filter((one) => followedOf(one) === followed)
    .sort((a, b) => (a.source < b.source ? -1 : a.source > b.source ? 1 : 0))
}

function followedOf({ source }: EventView): string {
  return source.split('/', 1)[0]!
}
