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
import { Answer, Empty } from '../../ui/feedback'
import { Group } from '../../ui/group'
import { PageHead } from '../../ui/page'
import { tagClass } from '../../ui/state'
import { Time } from '../../ui/time'
import { bodyOf } from '../events/filters'
import { BulkDialog } from '../orders/bulk-dialog'

type ReviewList = Body<'getReview'>['lists'][number]

/** Handled events with a finding are looked at, not retried. */
const retried: readonly ReviewList['kind'][] = ['unhandled', 'replayed_content', 'stale']

export function Review() {
  const query = useQuery(reviewQuery)
  const [order, setOrder] = useState<ReviewList | null>(null)
  return (
    <>
      <PageHead title="Review" />
      <Answer to={query} what="the review list">
        {({ lists }) => <Lists lists={lists.filter(({ count }) => count > 0)} onRetry={setOrder} />}
      </Answer>
      {order ? (
        <BulkDialog
          verb="retry"
          target={{ filter: bodyOf(eventsSearch(order.filter)), text: `the events of "${order.title}"` }}
          onClose={() => setOrder(null)}
          onDone={() => void query.refetch()}
        />
      ) : null}
    </>
  )
}

interface ListsProps {
  readonly lists: readonly ReviewList[]
  readonly onRetry: (list: ReviewList) => void
}

function Lists({ lists, onRetry }: ListsProps) {
  if (lists.length === 0)
    return (
      <Box>
        <Empty title="Nothing to review">
          Every recorded event has a handler, and no content came twice or changed.
        </Empty>
      </Box>
    )
  return (
    <Box label="Lists to review">
      {lists.map((list) => (
        <ListRow key={list.kind} list={list} onRetry={() => onRetry(list)} />
      ))}
    </Box>
  )
}

function ListRow({ list, onRetry }: { readonly list: ReviewList; readonly onRetry: () => void }) {
  const may = useMay()
  const { title, todo, types, lastAt } = list
  const filter = eventsSearch(list.filter)
  return (
    <Group
      count={`${number(list.count)}${list.more ? '+' : ''}`}
      actions={
        <>
          {may.order && retried.includes(list.kind) ? (
            <Button small icon="retry" onClick={onRetry}>
              Retry all
            </Button>
          ) : null}
          <Link to="/events" search={filter} className="button small">
            Show events
          </Link>
        </>
      }
    >
      <h2>{title}</h2>
      <p>{todo}</p>
      <ul className="line">
        {types.slice(0, 8).map(({ source, type, count }) => (
          <li key={`${source} ${type}`}>
            <Link to="/events" search={{ ...filter, source, type }} className={tagClass('pending')}>
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
    </Group>
  )
}
