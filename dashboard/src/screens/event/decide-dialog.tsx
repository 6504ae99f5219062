/** An operator decides about a conflict: the other content runs, or the first is kept. A dry run tells what would happen. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type EventView, take } from '../../api/client'
import { refreshAll } from '../../api/query-client'
import { visible } from '../../app/format'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { Problem, Skeleton } from '../../ui/feedback'
import { NoteField } from '../../ui/note-field'
import { toast } from '../../ui/toast'

export interface Decision {
  readonly verb: 'replay' | 'ignore'
  /** The content that the person has seen. Another one may come while the dialog is open. */
  readonly hash: string
}

const words = {
  replay: {
    name: 'Run the other content',
    consequence:
      'The two contents change places, and the event runs again with the other one, as a new run. Effects that ctx.once has finished do not happen again; other effects do.',
    done: 'The other content runs.',
  },
  ignore: {
    name: 'Keep the first',
    consequence:
      'The conflict with this content is closed, and nothing else changes. The same other content does not open it again; a third one does.',
    done: 'The first content is kept.',
  },
} as const

interface DecideDialogProps {
  readonly event: EventView
  readonly decision: Decision
  readonly onClose: () => void
}

export function DecideDialog({ event, decision, onClose }: DecideDialogProps) {
  const [note, setNote] = useState('')
  const { verb, hash } = decision
  const { name, consequence, done } = words[verb]
  const force = verb === 'replay' && event.state === 'succeeded'
  const post = (body: { note?: string; dryRun: boolean }) =>
    take(
      api.POST(`/api/events/{source}/{id}/${verb}`, {
        params: { path: { source: event.source, id: event.id } },
        body: { ...body, force, conflict: hash },
      }),
    )
  const dryRun = useQuery({
    queryKey: ['dry-run', event.source, event.id, event.state, 'conflict', verb, hash],
    queryFn: () => post({ dryRun: true }),
    retry: false,
    gcTime: 0,
  })
  const run = useMutation({
    mutationFn: () => post({ note: note.trim(), dryRun: false }),
    onSuccess: () => {
      toast(`${done} ${visible(event.id)}`)
      refreshAll()
      onClose()
    },
    // Somebody else may have decided: the page shows it behind the dialog.
    onError: refreshAll,
  })
  return (
    <Dialog
      onClose={onClose}
      title={name}
      description={consequence}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look={force ? 'danger' : 'primary'}
            disabled={!dryRun.data || run.isPending || (force && note.trim() === '')}
            onClick={() => run.mutate()}
          >
            {name}
          </Button>
        </>
      }
    >
      <div role="status">
        {dryRun.isPending ? <Skeleton lines={1} /> : null}
        {dryRun.error ? <Problem error={dryRun.error} /> : null}
        {dryRun.data && force ? (
          <p>It has succeeded before, so this is a forced replay and needs a note.</p>
        ) : null}
      </div>
      <NoteField required={force} value={note} onChange={setNote} />
      {run.error ? <Problem error={run.error} /> : null}
    </Dialog>
  )
}
