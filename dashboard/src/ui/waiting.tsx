/** Why an event is not finished: short for a row of the list, with links and actions for its page. */
import { Link } from '@tanstack/react-router'
import type { EventView } from '../api/client'
import { number, relative, visible } from '../app/format'
import { useNow, useTimed } from '../app/now'
import { Notice } from './feedback'
import { PauseControl, PausedBy } from './pauses'
import { type Waiting, waitingShort } from './waiting-words'

/** For a row of the list. */
export function WaitingNote({ waiting }: { readonly waiting: EventView['waiting'] }) {
  const text = useTimed((now) => (waiting && waitingShort(waiting, now)) ?? '')
  return text ? (
    <span className="faint cut" title={text}>
      {text}
    </span>
  ) : null
}

export function WaitingBox({ event }: { readonly event: EventView }) {
  const { waiting } = event
  if (waiting === null || waiting.kind === 'running' || waiting.kind === 'review' || waiting.kind === 'retry')
    return null
  return (
    <section aria-label="Why it waits">
      <Notice tone={waiting.kind === 'due' ? 'pending' : 'retrying'}>
        <Reason waiting={waiting} source={event.source} />
      </Notice>
    </section>
  )
}

function Reason({ waiting, source }: { readonly waiting: Waiting; readonly source: string }) {
  const now = useNow()
  const due = (at: string) => `due ${Date.parse(at) > now ? relative(Date.parse(at), now) : 'now'}`
  switch (waiting.kind) {
    case 'behind':
      return (
        <>
          Waits behind{' '}
          <Link to="/events/$source/$id" params={{ source, id: waiting.id }} className="mono">
            {visible(waiting.id)}
          </Link>{' '}
          of the same reference, {waiting.dueAt === null ? 'which is being handled' : due(waiting.dueAt)}.
        </>
      )
    case 'paused': {
      const { source: paused, type, actor, sinceAt } = waiting
      const pause = { source: paused, type, actor, note: null, at: sinceAt }
      return (
        <div className="line apart">
          <span>
            {visible(type === null ? paused : `${paused} ${type}`)} is paused, <PausedBy pause={pause} />.
          </span>
          <PauseControl source={paused} type={type} pause={pause} />
        </div>
      )
    }
    case 'postponed':
      return <>Its handler postponed it: {due(waiting.dueAt)}.</>
    case 'circuit':
      return (
        <>
          <Link to="/destinations">Its destination</Link> fails: {due(waiting.dueAt)}.
        </>
      )
    case 'places':
      return (
        <>
          All places for its handler are taken, by{' '}
          {waiting.takenBy
            .map((held) => `${visible(held.source)} ${visible(held.pattern)} (${number(held.count)})`)
            .join(', ')}
          . <Link to="/handlers">Handlers</Link>
        </>
      )
    case 'limit':
      return (
        <>
          The limit of its handler {visible(waiting.pattern)} holds it back:{' '}
          {waiting.dueAt === null ? 'until one of its calls ends' : due(waiting.dueAt)}.{' '}
          <Link to="/handlers">Handlers</Link>
        </>
      )
    case 'no_worker':
      return (
        <>
          No process runs handlers: start one that calls <code>inbox.start()</code>, or{' '}
          <code>hookonce worker</code>. <Link to="/workers">Workers</Link>
        </>
      )
    case 'no_handler':
      return (
        <>
          No running process has a handler for it. <Link to="/handlers">Handlers</Link>
        </>
      )
    default:
      return <>It is due: a worker takes it in a moment.</>
  }
}
