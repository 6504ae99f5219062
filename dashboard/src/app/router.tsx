/** The addresses of the dashboard. Every screen is a chunk of its own; every filter is in the address. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { eventQuery, statsQuery } from '../api/queries'
import { queryClient } from '../api/query-client'
import { attentionQuery, facetsQuery, overviewQuery } from '../api/screen-queries'
import { prefetchEvents } from '../screens/events/use-events'
import { windowOf } from '../screens/overview/windows'
import { Problem } from '../ui/feedback'
import { base } from './base'
import { Gate } from './gate'

export type Search = Readonly<Record<string, string | undefined>>

const root = createRootRoute({
  component: Gate,
  validateSearch: (search: Record<string, unknown>): Search => {
    const texts = Object.entries(search).filter(([, value]) => typeof value === 'string' && value !== '')
    return Object.fromEntries(texts) as Search
  },
  notFoundComponent: () => <p role="alert">There is no such page.</p>,
  errorComponent: ({ error, reset }) => <Problem error={error} onRetry={reset} />,
})

/** `ask` starts the requests of a screen while its code is loading. Nothing waits for them. */
type Ask = (search: Search, params: Readonly<Record<string, string>>) => void

const route = <Path extends string>(
  path: Path,
  load: () => Promise<Record<string, unknown>>,
  name: string,
  ask: Ask = () => {},
) =>
  createRoute({
    getParentRoute: () => root,
    path,
    loaderDeps: ({ search }) => search as Search,
    loader: ({ deps, params }) => ask(deps, params as Record<string, string>),
    // biome-ignore lint/suspicious/noExplicitAny: screens take no properties; the router's own type cannot say so
    component: lazyRouteComponent(load as any, name),
  })

const routes = [
  route(
    '/',
    () => import('../screens/overview/overview'),
    'Overview',
    ({ window }) => {
      void queryClient.prefetchQuery(overviewQuery(windowOf(window)))
      void queryClient.prefetchQuery(attentionQuery)
      void queryClient.prefetchQuery(statsQuery)
    },
  ),
  route(
    '/events',
    () => import('../screens/events/events'),
    'Events',
    (search) => {
      prefetchEvents(search)
      void queryClient.prefetchQuery(facetsQuery)
    },
  ),
  route(
    '/events/$source/$id',
    () => import('../screens/event/event'),
    'Event',
    (_search, { source, id }) => {
      void queryClient.prefetchQuery(eventQuery({ source: source!, id: id! }))
    },
  ),
  route('/dead-letters', () => import('../screens/dead-letters/dead-letters'), 'DeadLetters'),
  route('/review', () => import('../screens/review/review'), 'Review'),
  route('/sources', () => import('../screens/sources/sources'), 'Sources'),
  route('/sources/$source', () => import('../screens/sources/source'), 'Source'),
  route('/handlers', () => import('../screens/handlers/handlers'), 'Handlers'),
  route('/destinations', () => import('../screens/destinations/destinations'), 'Destinations'),
  route('/workers', () => import('../screens/workers/workers'), 'Workers'),
  route('/system', () => import('../screens/system/system'), 'System'),
]

function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text))
}

function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== '') params.set(name, String(value))
  }
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: base || '/',
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPreloadDelay: 80,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
