/** A range of times, in the time zone that the person has chosen for all times. Its bounds are in the address as ISO 8601. */
import { useEffect, useState } from 'react'
import { usePreferences } from '../../app/preferences'
import type { EventsSearch } from '../../app/search'
import css from './filter-bar.module.css'

interface RangeProps {
  readonly search: EventsSearch
  readonly onChange: (change: EventsSearch) => void
}

export function Range({ search, onChange }: RangeProps) {
  const utc = usePreferences().times === 'utc'
  return (
    <fieldset className={`line ${css.range}`} aria-label="Range of times">
      <Bound
        label="From"
        value={search.from}
        utc={utc}
        onChange={(from) => onChange({ from, since: undefined })}
      />
      <span className="faint" aria-hidden="true">
        to
      </span>
      <Bound
        label="Before"
        value={search.to}
        utc={utc}
        onChange={(to) => onChange({ to, since: undefined })}
      />
      <span className="faint">{utc ? 'UTC' : 'Local time'}</span>
    </fieldset>
  )
}

interface BoundProps {
  readonly label: string
  readonly value: string | undefined
  readonly utc: boolean
  readonly onChange: (value: string | undefined) => void
}

/** A half-typed time is not asked for: it counts when the field is left, or with Enter. */
function Bound({ label, value, utc, onChange }: BoundProps) {
  const shown = fieldOf(value, utc)
  const [text, setText] = useState(shown)
  useEffect(() => setText(shown), [shown])
  const commit = () => (text === shown ? undefined : onChange(isoOf(text, utc)))
  return (
    <input
      type="datetime-local"
      step={1}
      className={`input filter${value ? ' set' : ''}`}
      aria-label={label}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => (event.key === 'Enter' ? commit() : undefined)}
    />
  )
}

/** ISO 8601, or milliseconds since 1970 as in links of the API. */
function fieldOf(value: string | undefined, utc: boolean): string {
  if (value === undefined) return ''
  const at = new Date(/^\d+$/.test(value) ? Number(value) : value)
  if (Number.isNaN(at.getTime())) return ''
  const shifted = utc ? at : new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 19)
}

function isoOf(text: string, utc: boolean): string | undefined {
  const at = new Date(utc ? `${text}Z` : text)
  return text === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
