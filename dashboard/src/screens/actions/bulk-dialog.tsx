/** Retry, replay or ignore many events: counted first, confirmed with the consequences, followed, and cancelled. */
import { useMemo, useState } from 'react'
import type { Action } from '../../api/client'
import { refreshAll } from '../../api/query-client'
import { count, number } from '../../app/format'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { Problem, Skeleton } from '../../ui/feedback'
import { NoteField } from '../../ui/note-field'
import css from './bulk-dialog.module.css'
import { UndoWindow } from './undo-window'
import { type NewAction, type Target, useAction, type Verb } from './use-action'
import { consequences, refusals, verbNames } from './words'

interface BulkDialogProps {
  readonly verb: Verb
  readonly target: Target
  readonly onClose: () => void
  readonly onDone: () => void
}

export function BulkDialog({ verb, target: given, onClose, onDone }: BulkDialogProps) {
  const [target] = useState(given) // the filter ends at the time of the first count
  const [force, setForce] = useState(false)
  const [note, setNote] = useState('')
  const [wanted, setWanted] = useState<NewAction | null>(null)
  const [action, setAction] = useState<NewAction | null>(null)
  const counting = useMemo(() => ({ verb, target, dryRun: true, force, note: '' }), [verb, target, force])
  const dryRun = useAction(counting)
  const run = useAction(action)
  const started = action !== null

  function close(): void {
    if (started) {
      refreshAll()
      onDone()
    }
    onClose()
  }

  const name = verbNames[verb]
  const matched = dryRun.action?.state === 'running' ? null : (dryRun.action?.done ?? null)
  return (
    <Dialog
      onClose={close}
      title={`${name} ${target.text}`}
      description={consequences[verb]}
      actions={
        started ? (
          run.action?.state === 'running' || (run.action === null && run.error === null) ? (
            <Button onClick={() => void run.cancel()} disabled={run.action === null}>
              Cancel the rest
            </Button>
          ) : (
            <Button look="primary" onClick={close}>
              Close
            </Button>
          )
        ) : wanted ? (
          <>
            <Button onClick={() => setWanted(null)}>Undo</Button>
            <Button look="primary" onClick={() => setAction(wanted)}>
              Start now
            </Button>
          </>
        ) : (
          <>
            <Button onClick={close}>Cancel</Button>
            <Button
              look={verb === 'ignore' || force ? 'danger' : 'primary'}
              disabled={!matched || (force && note.trim() === '')}
              onClick={() => setWanted({ verb, target, dryRun: false, force, note: note.trim() })}
            >
              {matched === null ? name : `${name} ${count(matched, 'event')}`}
            </Button>
          </>
        )
      }
    >
      {started ? (
        <Progress action={run.action} error={run.error} expected={matched ?? 0} name={name} />
      ) : wanted ? (
        <UndoWindow onOver={() => setAction(wanted)} />
      ) : (
        <>
          <Count action={dryRun.action} error={dryRun.error} name={name} />
          {verb === 'replay' ? (
            <label className={css.check}>
              <input type="checkbox" checked={force} onChange={(event) => setForce(event.target.checked)} />
              <span>
                Also replay events that have succeeded. Their handlers run again, and effects without{' '}
                <code>ctx.once</code> happen again.
              </span>
            </label>
          ) : null}
          <NoteField required={force} value={note} onChange={setNote} />
        </>
      )}
    </Dialog>
  )
}

interface CountProps {
  readonly action: Action | null
  readonly error: Error | null
  readonly name: string
}

function Count({ action, error, name }: CountProps) {
  if (error) return <Problem error={error} />
  if (action === null) return <Skeleton lines={2} />
  if (action.state === 'failed') return <p role="alert">The count failed: {action.problem}.</p>
  const more = action.state === 'running' ? ' so far' : ''
  return (
    <div role="status">
      <p>
        <b>{number(action.matched)}</b> {action.matched === 1 ? 'event matches' : 'events match'}
        {more}. {name}: <b>{number(action.done)}</b>.
      </p>
      <Refused refused={action.refused} />
    </div>
  )
}

function Refused({ refused }: Pick<Action, 'refused'>) {
  const entries = Object.entries(refused)
  if (entries.length === 0) return null
  return (
    <ul className="muted">
      {entries.map(([code, times]) => (
        <li key={code}>
          {number(times)} left as they are: {refusals[code] ?? code}.
        </li>
      ))}
    </ul>
  )
}

interface ProgressProps extends CountProps {
  readonly expected: number
}

function Progress({ action, error, expected, name }: ProgressProps) {
  const done = action?.done ?? 0
  const total = Math.max(expected, done, 1)
  const words: Record<Action['state'], string> = {
    running: `${name}: ${number(done)} of ${number(expected)}`,
    done: `Done: ${count(done, 'event')}.`,
    cancelled: `Cancelled after ${count(done, 'event')}. Those stay changed.`,
    failed: `Stopped by an error after ${count(done, 'event')}: ${action?.problem}.`,
  }
  return (
    <div className="stack tight">
      {error ? <Problem error={error} /> : null}
      <p role="status">{words[action?.state ?? 'running']}</p>
      <div
        className={css.progress}
        role="progressbar"
        aria-label="Progress"
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={done}
      >
        <div style={{ width: `${(100 * done) / total}%` }} />
      </div>
      {action ? <Refused refused={action.refused} /> : null}
    </div>
  )
}
