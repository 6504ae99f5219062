/**
 * The rows of the list: pages by cursor, and in live mode new rows on top. New rows are held back while the pointer is
 * over the list or the list is scrolled, so that the row under the pointer does not move.
 */
import { hashKey, type InfiniteData, infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { api, type Body, type EventView, take } from '../../api/client'
import { useLiveRefresh } from '../../api/live'
import { queryClient } from '../../api/query-client'
import type { EventFilters, EventsSearch } from '../../app/search'
import { queryOf } from './filters'

export type Cost = Body<'searchPayloads'>['cost']
type Page = Body<'listEvents'> & { readonly cost?: Cost | undefined }
type Pages = InfiniteData<Page, string | null>

const PAGE = 100
/** Pages without an event that are followed before the list says how far the server has searched. */
const FOLLOWED = 10
const REFRESH_MS = 1_000

export interface Events {
  readonly rows: readonly EventView[]
  readonly isLoading: boolean
  readonly error: Error | null
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  loadMore(): void
  reload(): void
  readonly held: number
  showHeld(): void
  readonly cost: Cost | null
  /** The next page is loaded when its rows come into view. A search in payloads waits for the person. */
  readonly loadsByItself: boolean
}

type Conditions = EventFilters & Pick<EventsSearch, 'q' | 'path' | 'op' | 'value'>

function conditionsOf(search: EventsSearch): Conditions {
  const { q, path, op, value } = search
  return { ...queryOf(search), q, path, op, value }
}

function ask(conditions: Conditions, cursor: string | null, signal?: AbortSignal): Promise<Page> {
  const { q, path, op, value, ...filters } = conditions
  const page = { ...filters, limit: PAGE, cursor: cursor ?? undefined }
  return path === undefined
    ? take(api.GET('/api/events', { params: { query: { ...page, q } }, signal }))
    : take(api.GET('/api/search', { params: { query: { ...page, path, op, value } }, signal }))
}

/** The server stops a long search early. A page that is empty for this reason is not the end of the list. */
async function askUntilFound(
  conditions: Conditions,
  cursor: string | null,
  signal: AbortSignal,
): Promise<Page> {
  let page = await ask(conditions, cursor, signal)
  // A search in payloads reads much more, and says what it has read: the reader decides whether it goes on.
  const most = conditions.path === undefined || cursor !== null ? FOLLOWED : 0
  for (let n = 0; n < most && page.events.length === 0 && page.next !== null; n++) {
    const next = await ask(conditions, page.next, signal)
    page = { ...next, cost: sumOf([page, next]) ?? undefined }
  }
  return page
}

const pagesQuery = (conditions: Conditions) =>
  infiniteQueryOptions({
    queryKey: ['events', conditions],
    queryFn: ({ pageParam, signal }) => askUntilFound(conditions, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page) => last.next,
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Asks for the first page while the code of the screen is loading. */
export function prefetchEvents(search: EventsSearch): void {
  void queryClient.prefetchInfiniteQuery(pagesQuery(conditionsOf(search)))
}

export function useEvents(search: EventsSearch, live: boolean, mayMove: () => boolean): Events {
  const { q, path } = search
  const conditions = conditionsOf(search)
  const result = useInfiniteQuery(pagesQuery(conditions))
  const rows = useMemo(() => result.data?.pages.flatMap(({ events }) => events) ?? [], [result.data])
  const { held, refresh, showHeld } = useFresh(conditions, mayMove)
  useLiveRefresh(() => void refresh(), REFRESH_MS, live && !q && !path && result.isSuccess)
  const { fetchNextPage, hasNextPage, isFetchingNextPage, refetch } = result
  return {
    rows,
    isLoading: result.isPending,
    error: result.error,
    hasMore: hasNextPage,
    isLoadingMore: isFetchingNextPage,
    loadMore: () => (isFetchingNextPage ? undefined : void fetchNextPage()),
    reload: () => void refetch(),
    held,
    showHeld,
    cost: sumOf(result.data?.pages ?? []),
    loadsByItself: path === undefined,
  }
}

function sumOf(pages: readonly Page[]): Cost | null {
  const costs = pages.flatMap(({ cost }) => (cost ? [cost] : []))
  if (costs.length === 0) return null
  const sum = (name: keyof Cost) => costs.reduce((total, cost) => total + cost[name], 0)
  return { events: sum('events'), bytes: sum('bytes'), ms: sum('ms') }
}

/** Asks for the newest page, updates the rows that are shown, and adds the new ones when the list may move. */
function useFresh(conditions: Conditions, mayMove: () => boolean) {
  const { queryKey } = pagesQuery(conditions)
  const [held, setHeld] = useState(0)
  const latest = useRef<Page | null>(null)
  const asking = useRef(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters have other rows
  useEffect(() => {
    latest.current = null
    setHeld(0)
  }, [hashKey(queryKey)])

  function showHeld(): void {
    if (latest.current !== null) queryClient.setQueryData<Pages>(queryKey, withNew(latest.current))
    setHeld(0)
  }

  async function refresh(): Promise<void> {
    if (asking.current) return
    asking.current = true
    try {
      const page = await ask(conditions, null)
      latest.current = page
      queryClient.setQueryData<Pages>(queryKey, updated(page))
      const known = queryClient.getQueryData<Pages>(queryKey)
      const fresh = newEvents(page, known).length
      if (fresh > 0 && mayMove()) showHeld()
      else setHeld(fresh)
    } catch {
      // The banner of the shell says that the server does not answer.
    } finally {
      asking.current = false
    }
  }
  return { held, refresh, showHeld }
}

function newEvents(page: Page, known: Pages | undefined): EventView[] {
  const top = known?.pages.find(({ events }) => events.length > 0)?.events[0]?.seq ?? -1
  return page.events.filter(({ seq }) => seq > top)
}

const updated = (page: Page) => (known: Pages | undefined) => {
  if (known === undefined) return known
  const fresh = new Map(page.events.map((event) => [event.seq, event]))
  const pages = known.pages.map((one) => {
    const changed = one.events.some((event) => differs(event, fresh.get(event.seq)))
    if (!changed) return one
    return { ...one, events: one.events.map((event) => fresh.get(event.seq) ?? event) }
  })
  return pages.every((page, i) => page === known.pages[i]) ? known : { ...known, pages }
}

function differs(before: EventView, after: EventView | undefined): boolean {
  if (after === undefined) return false
  return (
    before.state !== after.state ||
    before.dead !== after.dead ||
    before.deliveries !== after.deliveries ||
    before.attempts !== after.attempts ||
    before.conflicts !== after.conflicts ||
    before.lastConflict?.decidedAt !== after.lastConflict?.decidedAt
  )
}

const withNew = (page: Page) => (known: Pages | undefined) => {
  if (known === undefined) return known
  const fresh = newEvents(page, known)
  // All are new: events between this page and the known ones would be missing, so the list starts again.
  if (fresh.length === page.events.length) return { pages: [page], pageParams: [null] }
  const [first, ...rest] = known.pages
  return { ...known, pages: [{ ...first!, events: [...fresh, ...first!.events] }, ...rest] }
}
