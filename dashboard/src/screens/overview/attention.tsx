import { useQuery } from '@tanstack/react-query'
import { Link, linkOptions } from '@tanstack/react-router'
import { useState } from 'react'
import { type Attention, attentionQuery } from '../../api/screen-queries'
import { number, visible } from '../../app/format'
import { eventsSearch } from '../../app/search'
import { Button } from '../../ui/button'
import { Card, Inside } from '../../ui/card'
import { Problem, Skeleton } from '../../ui/feedback'
import { Time } from '../../ui/time'
import css from './attention.module.css'

const tones = { critical: 'dead', warning: 'retrying', info: 'pending' } as const

/** The screen of an entry without a filter. */
const paths = {
  events: '/events',
  dead: '/dead-letters',
  review: '/review',
  sources: '/sources',
  handlers: '/handlers',
  destinations: '/destinations',
  workers: '/workers',
  system: '/system',
} as const satisfies Record<Attention['screen'], string>

/** The worst come first. More would push everything else off the screen. */
const FIRST = 4

export function AttentionList() {
  const { data, error } = useQuery(attentionQuery)
  const [all, setAll] = useState(false)
  const items = data?.items ?? []
  const shown = all ? items : items.slice(0, FIRST)
  return (
    <Card
      title="Needs attention"
      flush
      aside={
        data && data.items.length > 0 ? <span className="faint">{number(data.items.length)}</span> : null
      }
    >
      {error && !data ? (
        <Inside>
          <Problem error={error} />
        </Inside>
      ) : data === undefined ? (
        <Inside>
          <Skeleton lines={4} />
        </Inside>
      ) : data.items.length === 0 ? (
        <p className={`live succeeded ${css.well}`}>Nothing needs attention.</p>
      ) : (
        <>
          <ul className={css.list}>
            {shown.map((item) => (
              <Entry key={item.id} item={item} />
            ))}
          </ul>
          {items.length > FIRST ? (
            <div className={css.more}>
              <Button small look="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
                {all ? `Only the first ${FIRST}` : `Show all ${number(items.length)}`}
              </Button>
            </div>
          ) : null}
        </>
      )}
    </Card>
  )
}

function linkOf({ filter, screen, source }: Attention) {
  if (filter) return linkOptions({ to: '/events', search: eventsSearch(filter) })
  if (screen === 'sources' && source) return linkOptions({ to: '/sources/$source', params: { source } })
  return linkOptions({ to: paths[screen] })
}

function Entry({ item }: { readonly item: Attention }) {
  return (
    <li className={tones[item.severity]}>
      <Link {...linkOf(item)}>
        <span className={`${css.title} wrap`}>{visible(item.title)}</span>
        {item.count === null || item.title.includes(number(item.count)) ? null : (
          <span className={css.amount}>{number(item.count)}</span>
        )}
        <span className={`${css.text} wrap`}>{visible(item.text)}</span>
        <span className={`${css.todo} wrap`}>
          {visible(item.todo)}
          {item.lastAt ? (
            <span className="faint">
              {' '}
              Last: <Time at={item.lastAt} />
            </span>
          ) : null}
        </span>
      </Link>
    </li>
  )
}
