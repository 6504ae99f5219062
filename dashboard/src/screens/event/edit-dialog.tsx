/** Replay with another body: a new event, marked as a copy, with a body that somebody wrote. */
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId, useMemo, useState } from 'react'
import { api, type EventView, take } from '../../api/client'
import { visible } from '../../app/format'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { Notice, Problem } from '../../ui/feedback'
import { NoteField } from '../../ui/note-field'
import { toast } from '../../ui/toast'
import { type Content, jsonProblem, parse } from '../payload/bytes'
import { indented } from '../payload/diff'
import { Difference } from '../payload/difference'

interface EditDialogProps {
  readonly event: EventView
  readonly content: Content
  readonly onClose: () => void
}

function base64Of(text: string): string {
  let binary = ''
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte)
  return btoa(binary)
}

export function EditDialog({ event, content, onClose }: EditDialogProps) {
  const navigate = useNavigate()
  const bodyId = useId()
  const [text, setText] = useState(content.text)
  const [note, setNote] = useState('')
  const [checked, setChecked] = useState<{ text: string; id: string; duplicate: boolean } | null>(null)
  const [comparing, setComparing] = useState(false)
  const problem = useMemo(() => jsonProblem(text), [text])
  const edited = useMemo(() => ({ text, json: parse(text) }), [text])
  const wasJson = content.json !== undefined
  const isChanged = text !== content.text
  const send = useMutation({
    mutationFn: (dryRun: boolean) =>
      take(
        api.POST('/api/events/{source}/{id}/copies', {
          params: { path: { source: event.source, id: event.id } },
          body: { body: base64Of(text), note: note.trim(), dryRun },
        }),
      ),
    onSuccess: (answer) => {
      if (answer.dryRun) return setChecked({ text, id: answer.id, duplicate: answer.duplicate })
      toast('The edited copy is recorded.')
      onClose()
      void navigate({ to: '/events/$source/$id', params: { source: answer.source, id: answer.id } })
    },
  })
  const ready = checked !== null && checked.text === text && !checked.duplicate
  return (
    <Dialog
      wide
      onClose={onClose}
      title="Replay with an edited body"
      description="This event stays as it is. A new event with the body below is recorded, marked as a copy of it, and its handlers run. No sender has signed this body."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button disabled={send.isPending || !isChanged} onClick={() => send.mutate(true)}>
            Dry run
          </Button>
          <Button
            look="danger"
            disabled={!ready || send.isPending || note.trim() === ''}
            onClick={() => send.mutate(false)}
          >
            Record and handle the copy
          </Button>
        </>
      }
    >
      <div className="field">
        <div className="line apart">
          <label className="label" htmlFor={bodyId}>
            Body
          </label>
          <div className="line">
            {wasJson ? (
              <Button
                small
                look="quiet"
                disabled={problem !== null}
                title="A value in each line. Digits and the order of the keys stay."
                onClick={() => setText(indented(text))}
              >
                Format
              </Button>
            ) : null}
            <Button
              small
              look="quiet"
              aria-pressed={comparing}
              disabled={!isChanged}
              onClick={() => setComparing(!comparing)}
            >
              Changes
            </Button>
          </div>
        </div>
        <textarea
          id={bodyId}
          className="input mono"
          rows={16}
          spellCheck={false}
          dir="ltr"
          value={text}
          onChange={(change) => setText(change.target.value)}
        />
      </div>
      {wasJson && problem !== null ? (
        <Notice tone="retrying">
          This is not valid JSON, so the handler may fail. <span className="wrap">{visible(problem)}</span>
        </Notice>
      ) : null}
      {comparing && isChanged ? (
        <Difference first={content} other={edited} legend="− the body of this event; + the edited body." />
      ) : null}
      <NoteField required value={note} onChange={setNote} />
      {send.error ? <Problem error={send.error} /> : null}
      <div role="status">
        {checked !== null && checked.text === text ? (
          <p>
            {checked.duplicate
              ? 'Dry run: a copy with exactly this body exists already: '
              : 'Dry run: the new event would be recorded as '}
            <span className="mono wrap">{visible(checked.id)}</span>.
          </p>
        ) : null}
      </div>
    </Dialog>
  )
}
