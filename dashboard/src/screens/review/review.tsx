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
import { PageHead } from '../../ui/card'
import { Empty, Loading, Problem } from '../../ui/feedback'
import { Time } from '../../ui/time'
import { bodyOf } from '../events/filters'
import { BulkDialog } from '../orders/bulk-dialog'

type ReviewList = Body<'getReview'>['lists'][number]

/** Handled events with a finding are looked at, not retried. */
const retried: readonly ReviewList['kind'][] = ['unhandled', 'replayed_content', 'stale']

export function Review() {
  const { data, error, refetch } = useQuery(reviewQuery)
  const [order, setOrder] = useState<ReviewList | null>(null)
  const lists = data?.lists.filter((list) => list.count > 0) ?? []
  return (
    <>
      <PageHead title="Review" />
      {error && !data ? <Problem error={error} onRetry={() => void refetch()} /> : null}
      {data === undefined && !error ? <Loading what="the review list" /> : null}
      {data && lists.length === 0 ? (
        <div className="card">
          <Empty title="Nothing to review">
            Every recorded event has a handler, and no content came twice or changed.
          </Empty>
        </div>
      ) : null}
      {lists.length > 0 ? (
        <section className="card" aria-label="Lists to review">
          {lists.map((list) => (
            <ListRow key={list.kind} list={list} onRetry={() => setOrder(list)} />
          ))}
        </section>
      ) : null}
      {order ? (
        <BulkDialog
          verb="retry"
          target={{ filter: bodyOf(eventsSearch(order.filter)), text: `the events of "${order.title}"` }}
          onClose={() => setOrder(null)}
          onDone={() => void refetch()}
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
    <div className="group">
      <div className="stack tight">
        <h2>{title}</h2>
        <p>{todo}</p>
        <ul className="line">
          {types.slice(0, 8).map(({ source, type, count }) => (
            <li key={`${source} ${type}`}>
              <Link to="/events" search={{ ...filter, source, type }} className="state plain pending">
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
      <p className="big">
        {number(list.count)}
        {list.more ? '+' : ''}
      </p>
      <div className="line">
        {may.order && retried.includes(list.kind) ? (
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
