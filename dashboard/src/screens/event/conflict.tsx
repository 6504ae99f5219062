/** The content that came under the same id later, beside the present one. Reading both is audited, and so is a decision. */
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { ApiError, type EventView } from '../../api/client'
import { payloadQuery } from '../../api/queries'
import { useMay } from '../../api/session'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { Problem, Skeleton } from '../../ui/feedback'
import { hasOpenConflict } from '../../ui/state'
import { Time } from '../../ui/time'
import { contentOf } from '../payload/bytes'
import { Difference } from '../payload/difference'
import { DecideDialog, type Decision } from './decide-dialog'

export function Conflict({ event }: { readonly event: EventView }) {
  const may = useMay()
  const [wanted, setWanted] = useState(false)
  const [decision, setDecision] = useState<Decision | null>(null)
  const other = useQuery({ ...payloadQuery(event, 'conflict'), enabled: wanted })
  const first = useQuery({ ...payloadQuery(event), enabled: wanted })
  const contents = useMemo(
    () =>
      first.data && other.data && { first: contentOf(first.data.body), other: contentOf(other.data.body) },
    [first.data, other.data],
  )
  if (event.lastConflict === null) return null
  const { at, hash, decidedAt } = event.lastConflict
  // While another content is loaded, the page shows none that the person could have meant.
  const isLoading = wanted && other.isPending
  const decide = (verb: Decision['verb']) => setDecision({ verb, hash: other.data?.hash ?? hash })
  const gone = other.error instanceof ApiError && [404, 410].includes(other.error.status)
  const error = gone ? null : (other.error ?? first.error)
  return (
    <Card
      title={hasOpenConflict(event) ? 'Open conflict' : 'Conflict'}
      aside={
        <span className="faint">
          Last: <Time at={at} />
        </span>
      }
    >
      <div className="stack">
        <p>
          A delivery with the id of this event had other content.{' '}
          {decidedAt === null ? (
            'The first content was kept, and the other one changed nothing. Nobody has decided about it yet.'
          ) : (
            <>
              This was decided <Time at={decidedAt} />; the timeline says how.
            </>
          )}
        </p>
        {!wanted && may.payload ? (
          <div className="line">
            <Button icon="review" onClick={() => setWanted(true)}>
              Compare the contents
            </Button>
            <span className="faint">This is written to the audit.</span>
          </div>
        ) : null}
        {wanted && !error && !gone && !(other.data && first.data) ? <Skeleton lines={4} /> : null}
        {gone ? <p className="muted">The other content is not kept any more, so it cannot be run.</p> : null}
        {error ? <Problem error={error} /> : null}
        {contents ? (
          <Difference {...contents} legend="− the present content of the event; + the other content." />
        ) : null}
        {may.act && decidedAt === null ? (
          <div className="line">
            <Button icon="play" disabled={isLoading} onClick={() => decide('replay')}>
              Run the other content
            </Button>
            <Button icon="check" disabled={isLoading} onClick={() => decide('ignore')}>
              Keep the first
            </Button>
          </div>
        ) : null}
        {decision ? (
          <DecideDialog event={event} decision={decision} onClose={() => setDecision(null)} />
        ) : null}
      </div>
    </Card>
  )
}
