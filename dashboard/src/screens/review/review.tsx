/** Events that were not handled, or that are not what they seem: what to look at, and what to do. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Body } from '../../api/client'
import { reviewQuery } from '../../api/screen-queries'
import { useMay } from '../../api/session'
import { number, visible } from '../../app/format'
import { eventsSearch } from '../../app/search'
import { Button } from '../../ui/button'
import { Box } from '../../ui/card'
import css from '../../ui/group.module.css'
import { EmptyScreen, Screen } from '../../ui/page'
import { Time } from '../../ui/time'
import { BulkDialog } from '../actions/bulk-dialog'
import { bodyOf } from '../events/filters'

type ReviewList = Body<'getReview'>['lists'][number]

/** Handled events with a finding are looked at, not retried. */
const retried: readonly ReviewList['kind'][] = ['unhandled', 'replayed_content', 'stale']

export function Review() {
  const query = useQuery(reviewQuery)
  const [order, setActing] = useState<ReviewList | null>(null)
  return (
    <>
      <Screen title="Review" to={query} what="the review list">
        {({ lists }) =>
          lists.every(({ count }) => count === 0) ? (
            <EmptyScreen title="Nothing to review">
              Every recorded event has a handler, and no content came twice or changed.
            </EmptyScreen>
          ) : (
            <Box label="Lists to review">
              {lists.map((list) =>
                list.count > 0 ? (
                  <ListRow key={list.kind} list={list} onRetry={() => setActing(list)} />
                ) : null,
              )}
            </Box>
          )
        }
      </Screen>
      {order ? (
        <BulkDialog
          verb="retry"
          target={{ filter: bodyOf(eventsSearch(order.filter)), text: `the events of "${order.title}"` }}
          onClose={() => setActing(null)}
          onDone={() => void query.refetch()}
        />
      ) : null}
    </>
  )
}

function ListRow({ list, onRetry }: { readonly list: ReviewList; readonly onRetry: () => void }) {
  const may = useMay()
  const { title, todo, types, lastAt } = list
  const filter = eventsSearch(list.filter)
  return (
    <div className={css.group}>
      <div className="stack tight">
        <h2>{title}</h2>
        <p>{todo}</p>
        <ul className="line">
          {types.slice(0, 8).map(({ source, type, count }) => (
            <li key={`${source} ${type}`}>
              <Link to="/events" search={{ ...filter, source, type }} className="tag pending">
                {visible(source)} · {visible(type)} · {number(count)}
              </Link>
            </li>
          ))}
        </ul>
        {lastAt ? (
          <p className="faint">
            Last: <Time at={lastAt} />
          </p>
        ) : null}
      </div>
      <p className={css.count}>
        {number(list.count)}
        {list.more ? '+' : ''}
      </p>
      <div className="line">
        {may.act && retried.includes(list.kind) ? (
          <Button small icon="retry" onClick={onRetry}>
            Retry all
          </Button>
        ) : null}
        <Link to="/events" search={filter} className="button small">
          Show events
        </Link>
      </div>
    </div>
  )
}
