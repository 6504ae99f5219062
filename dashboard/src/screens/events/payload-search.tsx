/** A search in the stored payloads by a JSON path. It reads payloads, so it is bounded, audited, and shows its cost. */
import { type FormEvent, useState } from 'react'
import { bytes, number } from '../../app/format'
import type { EventsSearch } from '../../app/search'
import { Button } from '../../ui/button'
import { Select } from '../../ui/select'
import css from './filter-bar.module.css'
import type { Cost } from './use-events'

const operators = [
  ['eq', 'is'],
  ['ne', 'is not'],
  ['contains', 'contains'],
  ['exists', 'exists'],
  ['gt', 'is above'],
  ['lt', 'is below'],
] as const

interface PayloadSearchProps {
  readonly search: EventsSearch
  readonly cost: Cost | null
  readonly onChange: (change: EventsSearch) => void
}

export function PayloadSearch({ search, cost, onChange }: PayloadSearchProps) {
  const [path, setPath] = useState(search.path ?? '')
  const [op, setOp] = useState(search.op ?? 'eq')
  const [value, setValue] = useState(search.value ?? '')
  function submit(event: FormEvent): void {
    event.preventDefault()
    const wanted = path.trim()
    const needsValue = wanted !== '' && op !== 'exists'
    onChange({
      path: wanted || undefined,
      op: wanted === '' ? undefined : op,
      value: needsValue ? value : undefined,
      q: wanted === '' ? search.q : undefined,
    })
  }
  return (
    <form className={`line ${css.filters}`} onSubmit={submit} aria-label="Search in payloads">
      <input
        className={`input filter mono ${css.wide}`}
        aria-label="JSON path"
        placeholder="$.data.object.id"
        spellCheck={false}
        value={path}
        onChange={(event) => setPath(event.target.value)}
      />
      <Select plain label="Comparison" value={op} options={operators} onChange={setOp} />
      {op === 'exists' ? null : (
        <input
          className={`input filter ${css.wide}`}
          aria-label="Value"
          placeholder="value"
          spellCheck={false}
          value={value}
          onChange={(event) => setValue(event.target.value)}
        />
      )}
      <Button small type="submit" icon="search">
        Search payloads
      </Button>
      {search.path ? (
        <Button
          small
          look="quiet"
          onClick={() => onChange({ path: undefined, op: undefined, value: undefined })}
        >
          End the search
        </Button>
      ) : null}
      <span className="faint" role="status">
        {cost
          ? `Read ${number(cost.events)} payloads, ${bytes(cost.bytes)}, in ${number(cost.ms)} ms.`
          : 'Reads payloads of the events above, newest first, within limits. It is written to the audit.'}
      </span>
    </form>
  )
}
