/** A person has found out whether effects have happened whose end is unknown. The event is retried with the answers. */
import { useId, useState } from 'react'
import type { EventView } from '../../api/client'
import { visible } from '../../app/format'
import { ActionDialog } from '../actions/action-dialog'
import css from './effects-dialog.module.css'
import { type EffectAnswer, type EffectAnswers, effectsOf, problemOf } from './undecided'

interface EffectsDialogProps {
  readonly event: EventView
  readonly names: readonly string[]
  readonly onClose: () => void
}

export function EffectsDialog({ event, names, onClose }: EffectsDialogProps) {
  const [answers, setAnswers] = useState<EffectAnswers>(new Map())
  return (
    <ActionDialog
      event={event}
      verb="retry"
      effects={effectsOf(answers)}
      title="Decide about effects"
      description="Look at the other service first. The event is retried with your answers, and an effect without an answer stays undecided."
      confirm="Retry with this answer"
      done={(to) => `Decided: ${visible(event.id)} is now ${to}.`}
      onClose={onClose}
    >
      {names.map((name) => (
        <Question
          key={name}
          name={name}
          answer={answers.get(name)}
          onChange={(answer) => setAnswers(new Map(answers).set(name, answer))}
        />
      ))}
    </ActionDialog>
  )
}

interface QuestionProps {
  readonly name: string
  readonly answer: EffectAnswer | undefined
  readonly onChange: (answer: EffectAnswer) => void
}

function Question({ name, answer, onChange }: QuestionProps) {
  const id = useId()
  const result = answer?.result ?? ''
  const problem = answer && result !== '' ? problemOf(answer) : null
  const choice = (happened: boolean, words: string) => (
    <label className={css.choice}>
      <input
        type="radio"
        name={id}
        checked={answer?.happened === happened}
        onChange={() => onChange({ happened, result })}
      />
      <span>{words}</span>
    </label>
  )
  return (
    <fieldset className={css.effect}>
      <legend className="mono wrap">{visible(name)}</legend>
      {choice(false, 'It did not happen: do it again')}
      {choice(true, 'It happened')}
      {answer?.happened ? (
        <label className="field">
          <span className="label">Its result (JSON)</span>
          <textarea
            className="input mono"
            rows={3}
            spellCheck={false}
            dir="ltr"
            value={result}
            onChange={(change) => onChange({ happened: true, result: change.target.value })}
          />
          <span className="hint wrap" role="status">
            {visible(problem ?? '') ||
              'What the function would have returned, such as {"id":"po_1"}; true, when the handler does not use it.'}
          </span>
        </label>
      ) : null}
    </fieldset>
  )
}
