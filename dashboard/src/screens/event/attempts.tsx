/** The attempts, newest first, with the error and the stack as the server has redacted them. */
import { useState } from 'react'
import type { Attempt } from '../../api/client'
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
      {newest.length > shown.length ? (
        <Button small onClick={() => setAll(true)}>
          Show all {number(newest.length)}
        </Button>
      ) : null}
    </Card>
  )
}

function AttemptItem({ attempt, open }: { readonly attempt: Attempt; readonly open: boolean }) {
  const { outcome, startedAt, finishedAt, worker, detail } = attempt
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
          {stack.length > 0 ? (
            <details open={open}>
              <summary>Stack</summary>
              <pre className="wrap">{stack.map(visible).join('\n')}</pre>
            </details>
          ) : null}
          <CopyIcon text={detail} what="the error" />
        </div>
      ) : null}
    </li>
  )
}
