/** One action on one event. A dry run tells beforehand what would happen; the note goes into the audit. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { api, type EventView, take } from '../../api/client'
import { refreshAll } from '../../api/query-client'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { Problem, Skeleton } from '../../ui/feedback'
import { NoteField } from '../../ui/note-field'
import { toast } from '../../ui/toast'
import type { Verb } from './use-action'

interface ActionDialogProps {
  readonly event: EventView
  readonly verb: Verb
  /** The content that the person has seen. Another one may come while the dialog is open. */
  readonly conflict?: string
  /** What the person says about effects; null until that is complete. */
  readonly effects?: Readonly<Record<string, unknown>> | null
  readonly title: string
  readonly description: string
  /** The words on the button. */
  readonly confirm: string
  readonly look?: 'primary' | 'danger'
  /** What to say when it is done and the event is in this state. */
  readonly done: (to: string) => string
  readonly children?: ReactNode
  readonly onClose: () => void
  readonly onDone?: (() => void) | undefined
}

export function ActionDialog(props: ActionDialogProps) {
  const { event, verb, conflict, effects, title, description, confirm, done, children, onClose, onDone } =
    props
  const [note, setNote] = useState('')
  const force = verb === 'replay' && event.state === 'succeeded'
  const post = (body: { note?: string; effects?: Record<string, unknown>; dryRun: boolean }) =>
    take(
      api.POST(`/api/events/{source}/{id}/${verb}`, {
        params: { path: { source: event.source, id: event.id } },
        body: { ...body, force, ...(conflict !== undefined && { conflict }) },
      }),
    )
  const dryRun = useQuery({
    queryKey: ['dry-run', event.source, event.id, event.state, verb, conflict],
    queryFn: () => post({ dryRun: true }),
    retry: false,
    gcTime: 0,
  })
  const run = useMutation({
    mutationFn: () => post({ note: note.trim(), ...(effects && { effects }), dryRun: false }),
    onSuccess: ({ to }) => {
      toast(done(to))
      refreshAll()
      onDone?.()
      onClose()
    },
    // Somebody else may have acted: the page shows it behind the dialog.
    onError: refreshAll,
  })
  const moves = dryRun.data && dryRun.data.from !== dryRun.data.to
  return (
    <Dialog
      onClose={onClose}
      title={title}
      description={description}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look={force ? 'danger' : (props.look ?? 'primary')}
            disabled={!dryRun.data || run.isPending || effects === null || (force && note.trim() === '')}
            onClick={() => run.mutate()}
          >
            {confirm}
          </Button>
        </>
      }
    >
      {children}
      <div role="status">
        {dryRun.isPending ? <Skeleton lines={1} /> : null}
        {dryRun.error ? <Problem error={dryRun.error} /> : null}
        {moves ? (
          <p>
            Dry run: the event goes from <b>{dryRun.data.from}</b> to <b>{dryRun.data.to}</b>.
            {force ? ' It has succeeded before, so this is a forced replay and needs a note.' : ''}
          </p>
        ) : null}
      </div>
      <NoteField required={force} value={note} onChange={setNote} />
      {run.error ? <Problem error={run.error} /> : null}
    </Dialog>
  )
}
