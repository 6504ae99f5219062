import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { refreshAll } from '../api/query-client'
import { Button } from './button'
import { Dialog } from './dialog'
import { Problem } from './feedback'
import { NoteField } from './note-field'
import { toast } from './toast'

interface PauseButtonProps {
  readonly name: string
  readonly paused: boolean
  readonly consequence: string
  readonly act: (verb: 'pause' | 'resume', note: string) => Promise<unknown>
}

export function PauseButton({ name, paused, consequence, act }: PauseButtonProps) {
  const [asking, setAsking] = useState(false)
  const [note, setNote] = useState('')
  const verb = paused ? 'resume' : 'pause'
  const change = useMutation({
    mutationFn: () => act(verb, note.trim()),
    onSuccess: () => {
      toast(paused ? `${name} goes on.` : `${name} is paused.`)
      setAsking(false)
      refreshAll()
    },
  })
  const title = paused ? `Resume ${name}` : `Pause ${name}`
  return (
    <>
      <Button small icon={paused ? 'play' : 'pause'} aria-label={title} onClick={() => setAsking(true)}>
        {paused ? 'Resume' : 'Pause'}
      </Button>
      {asking ? (
        <Dialog
          onClose={() => setAsking(false)}
          title={title}
          description={paused ? 'Waiting events are taken up at once, in their usual order.' : consequence}
          actions={
            <>
              <Button onClick={() => setAsking(false)}>Cancel</Button>
              <Button look="primary" disabled={change.isPending} onClick={() => change.mutate()}>
                {paused ? 'Resume' : 'Pause'}
              </Button>
            </>
          }
        >
          <NoteField value={note} onChange={setNote} />
          {change.error ? <Problem error={change.error} /> : null}
        </Dialog>
      ) : null}
    </>
  )
}
