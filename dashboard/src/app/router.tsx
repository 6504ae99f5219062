/** The addresses of the dashboard. Every screen is a chunk of its own; every filter is in the address. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
  stripSearchParams,
} from '@tanstack/react-router'
import { eventQuery, statsQuery } from '../api/queries'
import { queryClient } from '../api/query-client'
import { attentionQuery, facetsQuery, overviewQuery } from '../api/screen-queries'
import { prefetchEvents } from '../screens/events/use-events'
import { Problem } from '../ui/feedback'
import { base, isOpenedByLink } from './base'
import { Gate } from './gate'
import { eventsSearch, overviewDefaults, overviewSearch, parseSearch, stringifySearch } from './search'

const root = createRootRoute({
  component: Gate,
  notFoundComponent: () => <p role="alert">There is no such page.</p>,
  errorComponent: ({ error, reset }) => <Problem error={error} onRetry={reset} />,
})
const getParentRoute = () => root
const isSigningIn = () => isOpenedByLink && !queryClient.getQueryData(['session'])

// Loaders start the requests of a screen while its code is loading. Nothing waits for them.
const overview = createRoute({
  getParentRoute,
  path: '/',
  validateSearch: overviewSearch,
  search: { middlewares: [stripSearchParams(overviewDefaults)] },
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => {
    if (isSigningIn()) return
    void queryClient.prefetchQuery(overviewQuery(deps.window))
    void queryClient.prefetchQuery(attentionQuery)
    void queryClient.prefetchQuery(statsQuery)
  },
  component: lazyRouteComponent(() => import('../screens/overview/overview'), 'Overview'),
})

const events = createRoute({
  getParentRoute,
  path: '/events',
  validateSearch: eventsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => {
    if (isSigningIn()) return
    prefetchEvents(deps)
    void queryClient.prefetchQuery(facetsQuery)
  },
  component: lazyRouteComponent(() => import('../screens/events/events'), 'Events'),
})

const event = createRoute({
  getParentRoute,
  path: '/events/$source/$id',
  loader: ({ params }) => (isSigningIn() ? undefined : void queryClient.prefetchQuery(eventQuery(params))),
  component: lazyRouteComponent(() => import('../screens/event/event'), 'Event'),
})

const plain = <Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute, path, component })

const routes = [
  overview,
  events,
  event,
  plain(
    '/dead-letters',
    lazyRouteComponent(() => import('../screens/dead-letters/dead-letters'), 'DeadLetters'),
  ),
  plain(
    '/review',
    lazyRouteComponent(() => import('../screens/review/review'), 'Review'),
  ),
  plain(
    '/sources',
    lazyRouteComponent(() => import('../screens/sources/sources'), 'Sources'),
  ),
  plain(
    '/sources/$source',
    lazyRouteComponent(() => import('../screens/sources/source'), 'Source'),
  ),
  plain(
    '/handlers',
    lazyRouteComponent(() => import('../screens/handlers/handlers'), 'Handlers'),
  ),
  plain(
    '/destinations',
    lazyRouteComponent(() => import('../screens/destinations/destinations'), 'Destinations'),
  ),
  plain(
    '/workers',
    lazyRouteComponent(() => import('../screens/workers/workers'), 'Workers'),
  ),
  plain(
    '/system',
    lazyRouteComponent(() => import('../screens/system/system'), 'System'),
  ),
]

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: base || '/',
  parseSearch,
  stringifySearch,
  // A parameter that no schema knows leaves the address.
  search: { strict: true },
  defaultPreload: 'intent',
  defaultPreloadDelay: 80,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
