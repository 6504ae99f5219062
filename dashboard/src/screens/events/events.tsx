/** The events of the log: found, filtered, watched live, and acted on in numbers. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type CSSProperties, useRef, useState } from 'react'
import type { EventView } from '../../api/client'
import { useMay } from '../../api/session'
import { number } from '../../app/format'
import { usePreferences } from '../../app/preferences'
import type { EventsSearch } from '../../app/search'
import { useShortcuts } from '../../app/shortcuts'
import { Button } from '../../ui/button'
import { Box, Inside } from '../../ui/card'
import { Empty, Loading, Problem } from '../../ui/feedback'
import { PageHead } from '../../ui/page'
import { Actions } from '../actions/actions'
import { FirstRun } from '../first-run'
import { BulkBar } from './bulk-bar'
import css from './events.module.css'
import { FilterBar } from './filter-bar'
import { hasFilter, isAboutReasons, notesTitle } from './filters'
import { NothingFound, ReadFurther } from './found'
import { List } from './list'
import { PayloadSearch } from './payload-search'
import { HeadRow } from './row'
import rowCss from './row.module.css'
import { type Selection, useSelection } from './selection'
import { Tally } from './tally'
import { type Events as Rows, useEvents } from './use-events'
import { ViewsMenu } from './views-menu'

/** Of the column with the time, as the person has chosen to see times. */
const timeWidths = { relative: '84px', local: '140px', utc: '168px' } as const

export function Events() {
  const search = useSearch({ from: '/events' })
  const navigate = useNavigate()
  const may = useMay()
  const box = useRef<HTMLDivElement>(null)
  const pointed = useRef(false)
  const selection = useSelection()
  const [acting, setActing] = useState<EventView | null>(null)
  const [searching, setSearching] = useState(search.path !== undefined)
  const live = search.live !== 'off'
  const canBeLive = search.q === undefined && search.path === undefined
  const mayMove = () => !pointed.current && (box.current?.scrollTop ?? 0) < 4
  const events = useEvents(search, live, mayMove)

  const change = (next: EventsSearch) => {
    selection.clear()
    box.current?.scrollTo({ top: 0 })
    void navigate({ to: '/events', search: (before) => ({ ...before, ...next }) })
  }
  const clear = () => {
    selection.clear()
    void navigate({ to: '/events', search: live ? {} : { live: 'off' } })
  }
  const toggleLive = () =>
    void navigate({
      to: '/events',
      search: (before) => ({ ...before, live: live ? 'off' : undefined }),
      replace: true,
    })
  useShortcuts({ l: toggleLive })

  const isEmpty = !events.isLoading && events.error === null && events.rows.length === 0
  if (isEmpty && !hasFilter(search)) return <FirstRun />
  return (
    <div className={css.page}>
      <PageHead title="Events">
        <Tally search={search} />
        <ViewsMenu search={search} />
        <Button
          small
          aria-pressed={live}
          className={live && canBeLive ? 'live succeeded' : 'live pending'}
          title={canBeLive ? 'Show new events as they arrive (l)' : 'A search is not live'}
          disabled={!canBeLive}
          onClick={toggleLive}
        >
          {live && canBeLive ? 'Live' : 'Not live'}
        </Button>
      </PageHead>
      <FilterBar search={search} onChange={change} onClear={clear}>
        {may.payload ? (
          <Button
            small
            look="quiet"
            icon="search"
            aria-expanded={searching}
            onClick={() => setSearching(!searching)}
          >
            In payloads
          </Button>
        ) : null}
      </FilterBar>
      {(searching || search.path !== undefined) && may.payload ? (
        <PayloadSearch
          // Another search in the address starts again with its own fields.
          key={[search.path, search.op, search.value].join()}
          search={search}
          onChange={change}
        />
      ) : null}
      <Box className={css.list} label="List of events">
        <div
          className={css.scroll}
          ref={box}
          onPointerEnter={() => {
            pointed.current = true
          }}
          onPointerLeave={() => {
            pointed.current = false
          }}
        >
          <Body
            events={events}
            search={search}
            onChange={change}
            selection={selection}
            selectable={may.act}
            box={box}
            onAct={(event) => (may.act ? setActing(event) : undefined)}
          />
        </div>
        <HeldRows events={events} box={box} />
      </Box>
      {selection.all || selection.events.length > 0 ? (
        <BulkBar search={search} selection={selection} onDone={events.reload} />
      ) : null}
      {acting ? <Actions event={acting} onClose={() => setActing(null)} onDone={events.reload} /> : null}
    </div>
  )
}

interface BodyProps {
  readonly events: Rows
  readonly search: EventsSearch
  readonly onChange: (change: EventsSearch) => void
  readonly selection: Selection
  readonly selectable: boolean
  readonly box: React.RefObject<HTMLDivElement | null>
  readonly onAct: (event: EventView) => void
}

function Body({ events, search, onChange, selection, selectable, box, onAct }: BodyProps) {
  const { rows, error, isLoading, reload, loadsByItself } = events
  const { times } = usePreferences()
  if (error !== null) return <Problem error={error} onRetry={reload} />
  if (isLoading) {
    return (
      <Inside>
        <Loading what="events" lines={12} />
      </Inside>
    )
  }
  if (rows.length === 0 && events.hasMore && loadsByItself)
    return (
      <Empty title="No event matches so far">
        <p>The server stopped at its limit. Search older events, or narrow the filters by source or time.</p>
        <Button disabled={events.isLoadingMore} onClick={events.loadMore}>
          Search older events
        </Button>
      </Empty>
    )
  if (rows.length === 0 && !events.hasMore) return <NothingFound search={search} onChange={onChange} />
  if (rows.length === 0) return <ReadFurther events={events} />
  return (
    <>
      <div
        role="table"
        aria-label="Events"
        aria-rowcount={events.hasMore ? -1 : rows.length + 1}
        className={isAboutReasons(search) ? rowCss.reasons : undefined}
        style={{ '--time': timeWidths[times] } as CSSProperties}
      >
        <HeadRow rows={rows} selection={selection} selectable={selectable} notes={notesTitle(search)} />
        <List events={events} selection={selection} selectable={selectable} box={box} onAct={onAct} />
      </div>
      {events.isLoadingMore && loadsByItself ? (
        <div className={css.more}>
          <Loading what="more events" lines={2} />
        </div>
      ) : null}
      {loadsByItself ? null : <ReadFurther events={events} />}
    </>
  )
}

/** New rows wait here while the pointer is over the list. */
function HeldRows({ events, box }: Pick<BodyProps, 'events' | 'box'>) {
  const show = () => {
    events.showHeld()
    box.current?.scrollTo({ top: 0 })
  }
  return (
    <div className={css.held} role="status">
      {events.held > 0 ? (
        <Button small look="primary" onClick={show}>
          {events.held >= 100 ? '100 or more' : number(events.held)} new
        </Button>
      ) : null}
    </div>
  )
}
