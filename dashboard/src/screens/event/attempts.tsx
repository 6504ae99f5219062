/** The attempts, newest first, with the error and the stack as the server has redacted them. */
import { useState } from 'react'
import type { Attempt } from '../../api/client'
import { useMay } from '../../api/session'
import { duration, number, visible } from '../../app/format'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { CopyIcon } from '../../ui/copy'
import { Skeleton } from '../../ui/feedback'
import type { Shown } from '../../ui/state'
import { Time } from '../../ui/time'
import css from './attempts.module.css'

const tones: Readonly<Record<Attempt['outcome'], Shown>> = {
  succeeded: 'succeeded',
  ignored: 'ignored',
  failed: 'dead',
  lost: 'retrying',
}

const FIRST = 10

export function Attempts({ attempts }: { readonly attempts: readonly Attempt[] | undefined }) {
  const [all, setAll] = useState(false)
  const may = useMay()
  if (attempts === undefined)
    return (
      <Card title="Attempts">
        <Skeleton />
      </Card>
    )
  const newest = [...attempts].reverse()
  const shown = all ? newest.slice(0, 500) : newest.slice(0, FIRST)
  return (
    <Card title="Attempts" aside={<span className="faint">{number(attempts.length)}</span>}>
      {attempts.length === 0 ? <p className="muted">No handler has run for this event.</p> : null}
      <ol className={css.attempts}>
        {shown.map((attempt, i) => (
          <AttemptItem key={`${attempt.run} ${attempt.attempt}`} attempt={attempt} open={i === 0} />
        ))}
      </ol>
      <Explanations attempts={shown} seesErrors={may.detail} />
      {newest.length > shown.length ? (
        <Button small onClick={() => setAll(true)}>
          Show all {number(newest.length)}
        </Button>
      ) : null}
    </Card>
  )
}

/** The mask of `redact` in the processing. */
const MASK = '***'

function Explanations({
  attempts,
  seesErrors,
}: {
  readonly attempts: readonly Attempt[]
  readonly seesErrors: boolean
}) {
  if (!seesErrors && attempts.some(({ outcome }) => outcome === 'failed'))
    return (
      <p className={`${css.explained} faint`}>
        Errors are shown to operators and admins: they may quote a payload.
      </p>
    )
  if (!attempts.some(({ detail, place }) => detail?.includes(MASK) || place?.includes(MASK))) return null
  return (
    <p className={`${css.explained} faint`}>
      <code>{MASK}</code> stands for a secret, a credential, or a value that the option <code>redact</code>{' '}
      names. It was masked before the error was stored, so nobody can see it here. An admin finds such a value
      in the payload.
    </p>
  )
}

function AttemptItem({ attempt, open }: { readonly attempt: Attempt; readonly open: boolean }) {
  const { outcome, startedAt, finishedAt, worker, detail, place } = attempt
  const took = Date.parse(finishedAt) - Date.parse(startedAt)
  const [first = '', ...stack] = (detail ?? '').split('\n')
  return (
    <li>
      <div className="line apart">
        <span className="line">
          <span className={`state ${tones[outcome]}`}>{outcome}</span>
          <b>Attempt {number(attempt.attempt)}</b>
          {attempt.run > 1 ? <span className="faint">run {number(attempt.run)}</span> : null}
        </span>
        <span className="line faint">
          <span title="Duration">{duration(took)}</span>
          <span className={`cut ${css.worker}`} title={visible(worker)}>
            {visible(worker)}
          </span>
          <Time at={startedAt} />
        </span>
      </div>
      {detail ? (
        <div className={css.error}>
          <p className="wrap mono">{visible(first)}</p>
          {place ? <p className={`${css.place} wrap mono`}>{visible(place)}</p> : null}
          {stack.length > 0 ? (
            <details open={open}>
              <summary>Stack</summary>
              <pre className="wrap">{stack.map(visible).join('\n')}</pre>
            </details>
          ) : null}
          <CopyIcon text={place ? `${detail}\n    ${place}` : detail} what="the error" />
        </div>
      ) : null}
    </li>
  )
}
