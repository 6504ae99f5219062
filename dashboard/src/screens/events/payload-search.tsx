/** A search in the stored payloads by a JSON path. It reads payloads, so it is bounded, audited, and shows its cost. */
import { type FormEvent, useId, useState } from 'react'
import type { EventsSearch } from '../../app/search'
import { Button } from '../../ui/button'
import { Select } from '../../ui/select'
import css from './filter-bar.module.css'

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
  readonly onChange: (change: EventsSearch) => void
}

/** Examples, for somebody who does not know the language. */
const paths = ['**', '**.email', '**.customer', '$.data.object.id', 'items[*].sku']

export function PayloadSearch({ search, onChange }: PayloadSearchProps) {
  const [path, setPath] = useState(search.path ?? '**')
  const [op, setOp] = useState(search.op ?? 'contains')
  const id = useId()
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
        placeholder="**.customer"
        list={id}
        spellCheck={false}
        value={path}
        onChange={(event) => setPath(event.target.value)}
      />
      <datalist id={id}>
        {paths.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
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
      <span className="faint">
        <code>**</code> is any place in the payload. Reads the events above, newest first; written to the
        audit.
      </span>
    </form>
  )
}
