/** The filters of the list. Each one is a part of the address; chips show those that have no control of their own. */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { sourcesQuery } from '../../api/queries'
import { facetsQuery } from '../../api/screen-queries'
import { useMay } from '../../api/session'
import type { EventsSearch } from '../../app/search'
import { Button, IconButton } from '../../ui/button'
import { Select } from '../../ui/select'
import { stateOptions } from '../../ui/state'
import css from './filter-bar.module.css'
import { hasFilter, patternOf, stateChoice, stateFilter, textOf } from './filters'
import { Range } from './range'

interface FilterBarProps {
  readonly search: EventsSearch
  readonly onChange: (change: EventsSearch) => void
  readonly onClear: () => void
  readonly children?: ReactNode
}

export function FilterBar({ search, onChange, onClear, children }: FilterBarProps) {
  const { data } = useQuery(sourcesQuery)
  const sources = data?.sources.map(({ name }) => name) ?? []
  const known = search.source === undefined || sources.includes(search.source)
  const may = useMay()
  const [ranging, setRanging] = useState(false)
  const hasRange = search.from !== undefined || search.to !== undefined
  return (
    <div className={`line ${css.filters}`}>
      <Select
        label="State"
        value={stateChoice(search)}
        options={[['', 'Any state'], ...stateOptions]}
        onChange={(value) => onChange(stateFilter(value))}
      />
      <Select
        label="Source"
        value={search.source ?? ''}
        options={[
          ['', 'Any source'],
          ...(known ? [] : [[search.source!, search.source!] as const]),
          ...sources.map((name) => [name, name] as const),
        ]}
        onChange={(value) => onChange({ source: value || undefined })}
      />
      <TypeFilter
        value={search.type ?? ''}
        source={search.source}
        onChange={(value) => onChange({ type: value || undefined })}
      />
      {may.detail ? (
        <TextFilter
          label="Error"
          placeholder="Error contains"
          value={textOf(search.reasonLike)}
          onChange={(value) => onChange({ reasonLike: patternOf(value) })}
        />
      ) : null}
      <Select
        label="Received"
        value={hasRange || ranging ? 'range' : (search.since ?? '')}
        options={[
          ['', 'Any time'],
          ['1h', 'Last hour'],
          ['24h', 'Last 24 hours'],
          ['7d', 'Last 7 days'],
          ['30d', 'Last 30 days'],
          ['range', 'Between'],
        ]}
        onChange={(value) => {
          setRanging(value === 'range')
          if (value !== 'range') onChange({ since: value || undefined, from: undefined, to: undefined })
        }}
      />
      {hasRange || ranging ? <Range search={search} onChange={onChange} /> : null}
      <Select
        label="Attempts"
        value={String(search.minAttempts ?? '')}
        options={[
          ['', 'Any attempts'],
          ['1', '1 or more'],
          ['2', '2 or more'],
          ['5', '5 or more'],
          ['10', '10 or more'],
        ]}
        onChange={(value) => onChange({ minAttempts: Number(value) || undefined })}
      />
      <Select
        label="Deliveries"
        value={findingOf(search)}
        options={[
          ['', 'Any deliveries'],
          ['hasDuplicates', 'With duplicates'],
          ['hasConflict', 'With open conflicts'],
          ['flagged', 'Flagged content'],
        ]}
        onChange={(value) =>
          onChange({
            hasDuplicates: undefined,
            hasConflict: undefined,
            flagged: undefined,
            ...(value ? { [value]: 'true' } : {}),
          })
        }
      />
      {children}
      <Chips search={search} onChange={onChange} />
      {hasFilter(search) ? (
        <Button
          small
          look="quiet"
          onClick={() => {
            setRanging(false)
            onClear()
          }}
        >
          Clear filters
        </Button>
      ) : null}
    </div>
  )
}

const findings = ['hasDuplicates', 'hasConflict', 'flagged'] as const

function findingOf(search: EventsSearch): (typeof findings)[number] | '' {
  return findings.find((name) => search[name] === 'true') ?? ''
}

interface TypeFilterProps {
  readonly value: string
  readonly source: string | undefined
  readonly onChange: (value: string) => void
}

/** Known types are offered. */
function TypeFilter({ value, source, onChange }: TypeFilterProps) {
  const { data } = useQuery(facetsQuery)
  const id = useId()
  const types = (data?.sources ?? [])
    .filter((entry) => source === undefined || entry.source === source)
    .flatMap((entry) => entry.types)
  return (
    <>
      <TextFilter label="Type" placeholder="Type, or order.*" list={id} value={value} onChange={onChange} />
      <datalist id={id}>
        {[...new Set(types)].slice(0, 200).map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
    </>
  )
}

interface TextFilterProps {
  readonly label: string
  readonly placeholder: string
  readonly list?: string
  readonly value: string
  readonly onChange: (value: string) => void
}

/** Typed text becomes a filter with Enter, or when the field is left. */
function TextFilter({ label, placeholder, list, value, onChange }: TextFilterProps) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  const commit = () => (text.trim() === value ? undefined : onChange(text.trim()))
  return (
    <input
      list={list}
      className={`input filter${value ? ' set' : ''}`}
      aria-label={label}
      placeholder={placeholder}
      spellCheck={false}
      autoComplete="off"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => (event.key === 'Enter' ? commit() : undefined)}
    />
  )
}

const chips = [
  ['q', 'find'],
  ['reason', 'reason'],
  ['reference', 'reference'],
  ['label', 'labelled'],
  ['id', 'id'],
] as const

function Chips({ search, onChange }: Pick<FilterBarProps, 'search' | 'onChange'>) {
  return chips.map(([name, label]) => {
    const value = search[name]
    if (!value) return null
    return (
      <span key={name} className={css.chip}>
        <span className="faint">{label}</span>
        <bdi className="cut">{value}</bdi>
        <IconButton
          small
          icon="close"
          label={`Remove the filter ${label}`}
          // A label says nothing without its reference.
          onClick={() => onChange({ [name]: undefined, ...(name === 'reference' && { label: undefined }) })}
        />
      </span>
    )
  })
}
