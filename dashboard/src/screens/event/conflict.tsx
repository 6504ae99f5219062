/** The content that came under the same id later, beside the present one. Reading both is audited, and so is a decision. */
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { ApiError, type EventView } from '../../api/client'
import { type Payload, payloadQuery } from '../../api/queries'
import { useMay } from '../../api/session'
import { visible } from '../../app/format'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { Problem, Skeleton } from '../../ui/feedback'
import { hasOpenConflict } from '../../ui/state'
import { Time } from '../../ui/time'
import { type Content, contentOf, linesOf } from '../payload/bytes'
import { diffLines, indented } from '../payload/diff'
import { Lines } from '../payload/lines'
import css from './conflict.module.css'
import { DecideDialog, type Decision } from './decide-dialog'

export function Conflict({ event }: { readonly event: EventView }) {
  const may = useMay()
  const [wanted, setWanted] = useState(false)
  const [decision, setDecision] = useState<Decision | null>(null)
  const other = useQuery({ ...payloadQuery(event, 'conflict'), enabled: wanted })
  const first = useQuery({ ...payloadQuery(event), enabled: wanted })
  if (event.lastConflict === null) return null
  const { at, decidedAt } = event.lastConflict
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
        {other.data && first.data ? <Difference first={first.data} other={other.data} /> : null}
        {may.act && decidedAt === null ? (
          <div className="line">
            <Button icon="play" onClick={() => setDecision('replay')}>
              Run the other content
            </Button>
            <Button icon="check" onClick={() => setDecision('ignore')}>
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

const looks = {
  same: { mark: '  ', className: undefined },
  first: { mark: '− ', className: css.first },
  other: { mark: '+ ', className: css.other },
} as const

function Difference({ first, other }: { readonly first: Payload; readonly other: Payload }) {
  const lines = useMemo(
    () => diffLines(linesOf(pretty(contentOf(first.body))), linesOf(pretty(contentOf(other.body)))),
    [first, other],
  )
  const changed = lines.filter(({ kind }) => kind !== 'same').length
  return (
    <>
      <p className="faint">
        {changed === 0
          ? 'The contents differ only in the spaces and line breaks between their values.'
          : '− the present content of the event; + the other content.'}
      </p>
      <Lines
        label="Difference of the contents"
        count={lines.length}
        line={(index) => `${looks[lines[index]!.kind].mark}${visible(lines[index]!.text)}`}
        className={(index) => looks[lines[index]!.kind].className}
      />
    </>
  )
}

/** With line breaks, so that a difference is a line and not the whole body. */
function pretty({ text, json }: Content): string {
  return json === undefined ? text : indented(text)
}
