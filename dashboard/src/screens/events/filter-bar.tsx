/** The filters of the list. Each one is a part of the address; chips show those that have no control of their own. */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { sourcesQuery } from '../../api/queries'
import { facetsQuery } from '../../api/screen-queries'
import type { EventsSearch } from '../../app/search'
import { Button, IconButton } from '../../ui/button'
import { Select } from '../../ui/select'
import { stateOptions } from '../../ui/state'
import css from './filter-bar.module.css'
import { hasFilter, stateChoice, stateFilter } from './filters'

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
      <Select
        label="Received"
        value={search.since ?? ''}
        options={[
          ['', 'Any time'],
          ['1h', 'Last hour'],
          ['24h', 'Last 24 hours'],
          ['7d', 'Last 7 days'],
          ['30d', 'Last 30 days'],
        ]}
        onChange={(value) => onChange({ since: value || undefined, from: undefined, to: undefined })}
      />
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
      <Chips search={search} onChange={onChange} />
      {hasFilter(search) ? (
        <Button small look="quiet" onClick={onClear}>
          Clear filters
        </Button>
      ) : null}
      {children}
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

/** Typed text becomes a filter with Enter, or when the field is left. Known types are offered. */
function TypeFilter({ value, source, onChange }: TypeFilterProps) {
  const { data } = useQuery(facetsQuery)
  const [text, setText] = useState(value)
  const id = useId()
  useEffect(() => setText(value), [value])
  const commit = () => (text.trim() === value ? undefined : onChange(text.trim()))
  const types = (data?.sources ?? [])
    .filter((entry) => source === undefined || entry.source === source)
    .flatMap((entry) => entry.types)
  return (
    <>
      <input
        list={id}
        className={`input filter${value ? ' set' : ''}`}
        aria-label="Type"
        placeholder="Type, or order.*"
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={commit}
        onKeyDown={(event) => (event.key === 'Enter' ? commit() : undefined)}
      />
      <datalist id={id}>
        {[...new Set(types)].slice(0, 200).map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
    </>
  )
}

const chips = [
  ['q', 'find'],
  ['reason', 'reason'],
  ['reasonLike', 'error like'],
  ['reference', 'reference'],
  ['id', 'id'],
  ['from', 'from'],
  ['to', 'before'],
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
          onClick={() => onChange({ [name]: undefined })}
        />
      </span>
    )
  })
}
