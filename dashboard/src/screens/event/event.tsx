import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, type EventView } from '../../api/client'
import { useLiveRefresh } from '../../api/live'
import { attemptsQuery, effectsQuery, eventAuditsQuery, eventQuery } from '../../api/queries'
import { queryClient } from '../../api/query-client'
import { useMay } from '../../api/session'
import { visible } from '../../app/format'
import { useNow } from '../../app/now'
import { useShortcuts } from '../../app/shortcuts'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { Copyable, copyAndSay } from '../../ui/copy'
import { Empty } from '../../ui/feedback'
import { Answer } from '../../ui/page'
import page from '../../ui/page.module.css'
import { StateBadge, shownState } from '../../ui/state'
import { WaitingBox } from '../../ui/waiting'
import { Actions } from '../actions/actions'
import type { Verb } from '../actions/use-action'
import { verbIcons, verbNames, verbsFor } from '../actions/words'
import { Attempts } from './attempts'
import { Conflict } from './conflict'
import { Consumers } from './consumers'
import { Effects } from './effects'
import { EventFacts } from './facts'
import { PayloadCard } from './payload-card'
import { timelineOf } from './timeline'
import { TimelineList } from './timeline-list'
import { undecidedOf } from './undecided'
import { verdictOf } from './verdict'
import css from './verdict.module.css'

export function Event() {
  const { source, id } = useParams({ from: '/events/$source/$id' })
  const query = useQuery(eventQuery({ source, id }))
  const { data: event, error } = query
  const unsettled =
    event !== undefined &&
    (event.state === 'pending' || event.state === 'processing' || event.nextAttemptAt !== null)
  const refresh = () => void queryClient.invalidateQueries({ queryKey: ['event', source, id] })
  useLiveRefresh(refresh, unsettled ? 500 : 3_000)
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Empty title="This event is not in the log">
        <p>
          It was never recorded under this id, or retention has removed it.{' '}
          <Link to="/events">All events</Link>
        </p>
      </Empty>
    )
  }
  return (
    <Answer to={query} what="the event" lines={10}>
      {(event) => <EventPage key={`${source}\n${id}\n${event.contentHash}`} event={event} />}
    </Answer>
  )
}

function EventPage({ event }: { readonly event: EventView }) {
  const may = useMay()
  const [verb, setVerb] = useState<Verb | 'usual' | null>(null)
  const attempts = useQuery(attemptsQuery(event)).data?.attempts
  const audits = useQuery({ ...eventAuditsQuery(event), enabled: may.detail }).data?.audits ?? []
  const effects = useQuery(effectsQuery(event)).data?.effects ?? []
  const succeeded = attempts?.filter(({ outcome }) => outcome === 'succeeded').length ?? null
  useShortcuts({
    r: () => (may.act ? setVerb('usual') : undefined),
    c: () => void copyAndSay(event.id, visible(event.id)),
  })
  return (
    <article className="stack">
      <title>{`${visible(event.id)} · hookonce`}</title>
      <header className={`stack ${page.detail}`}>
        <nav aria-label="Path" className="faint">
          <Link to="/events">Events</Link> /{' '}
          <Link to="/events" search={{ source: event.source }}>
            {visible(event.source)}
          </Link>
        </nav>
        <div className="line apart">
          <div className="line">
            <h1 className="wrap">{visible(event.type)}</h1>
            <StateBadge event={event} />
          </div>
          {may.act ? <ActionButtons event={event} onAction={setVerb} /> : null}
        </div>
        <Copyable text={event.id} what="the id">
          <bdi className="mono wrap">{visible(event.id)}</bdi>
        </Copyable>
      </header>
      <VerdictBox event={event} succeeded={succeeded} undecided={undecidedOf(event, effects).length} />
      <WaitingBox event={event} />
      <div className={page.columns}>
        <div className="stack">
          {event.dead || event.nextAttemptAt ? <Attempts attempts={attempts} /> : null}
          <Conflict event={event} />
          <PayloadCard event={event} />
          {event.dead || event.nextAttemptAt ? null : <Attempts attempts={attempts} />}
          <Effects event={event} />
        </div>
        <div className="stack">
          <Consumers event={event} />
          <Card title="Timeline">
            <TimelineList moments={timelineOf(event, attempts ?? [], audits)} />
          </Card>
          <EventFacts event={event} />
        </div>
      </div>
      {verb ? (
        <Actions event={event} verb={verb === 'usual' ? undefined : verb} onClose={() => setVerb(null)} />
      ) : null}
    </article>
  )
}

function ActionButtons({
  event,
  onAction,
}: {
  readonly event: EventView
  readonly onAction: (verb: Verb) => void
}) {
  return (
    <div className="line">
      {verbsFor[shownState(event)].map((verb) => (
        <Button
          key={verb}
          icon={verbIcons[verb]}
          look={verb === 'retry' && event.dead ? 'primary' : undefined}
          onClick={() => onAction(verb)}
        >
          {verbNames[verb]}
        </Button>
      ))}
    </div>
  )
}

interface VerdictBoxProps {
  readonly event: EventView
  readonly succeeded: number | null
  readonly undecided: number
}

function VerdictBox({ event, succeeded, undecided }: VerdictBoxProps) {
  const now = useNow()
  const { tone, title, rest, todo } = verdictOf(event, succeeded, undecided, now)
  return (
    <div className={`${css.verdict} ${tone}`} role="status" aria-label="Verdict">
      <p>
        <b>{title}</b> {rest.join(' ')}
      </p>
      {todo ? <p className={css.todo}>{todo}</p> : null}
    </div>
  )
}
