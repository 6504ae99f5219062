/** Retry, replay or ignore one event. A dry run tells beforehand what would happen. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type EventView, take } from '../../api/client'
import { refreshAll } from '../../api/query-client'
import { visible } from '../../app/format'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { Problem, Skeleton } from '../../ui/feedback'
import { NoteField } from '../../ui/note-field'
import { Segments } from '../../ui/segments'
import { shownState } from '../../ui/state'
import { toast } from '../../ui/toast'
import type { Verb } from './use-action'
import { consequences, verbNames, verbsFor } from './words'

interface OrdersProps {
  readonly event: EventView
  readonly verb?: Verb | undefined
  readonly onClose: () => void
  readonly onDone?: () => void
}

function post(event: EventView, verb: Verb, body: { note?: string; force: boolean; dryRun: boolean }) {
  const path = { source: event.source, id: event.id }
  return take(api.POST(`/api/events/{source}/{id}/${verb}`, { params: { path }, body }))
}

export function Actions({ event, verb: given, onClose, onDone }: OrdersProps) {
  const offered = verbsFor[shownState(event)]
  // The event may be in work: then the server says why nothing can be done.
  const [verb, setVerb] = useState<Verb>(given ?? offered[0] ?? 'retry')
  const [note, setNote] = useState('')
  const succeeded = event.state === 'succeeded'
  const force = verb === 'replay' && succeeded
  const dryRun = useQuery({
    queryKey: ['dry-run', event.source, event.id, event.state, verb],
    queryFn: () => post(event, verb, { force, dryRun: true }),
    retry: false,
    gcTime: 0,
  })
  const run = useMutation({
    mutationFn: () => post(event, verb, { note: note.trim(), force, dryRun: false }),
    onSuccess: ({ to }) => {
      toast(`${verbNames[verb]}: ${visible(event.id)} is now ${to}.`)
      refreshAll()
      onDone?.()
      onClose()
    },
  })
  return (
    <Dialog
      onClose={onClose}
      title={`${verbNames[verb]} ${visible(event.id)}`}
      description={consequences[verb]}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look={force || verb === 'ignore' ? 'danger' : 'primary'}
            disabled={!dryRun.data || run.isPending || (force && note.trim() === '')}
            onClick={() => run.mutate()}
          >
            {force ? 'Replay with force' : verbNames[verb]}
          </Button>
        </>
      }
    >
      {offered.length > 1 ? (
        <Segments
          label="Action"
          value={verb}
          options={offered.map((one) => [one, verbNames[one]])}
          onChange={setVerb}
        />
      ) : null}
      <div role="status">
        {dryRun.isPending ? <Skeleton lines={1} /> : null}
        {dryRun.error ? <Problem error={dryRun.error} /> : null}
        {dryRun.data ? (
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
