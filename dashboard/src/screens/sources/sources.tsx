/** The configured sources. Those that received something come first. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { SourceView } from '../../api/client'
import { sourcesQuery } from '../../api/queries'
import { count, number, percent, visible } from '../../app/format'
import { Box, Footnote } from '../../ui/card'
import { Empty } from '../../ui/feedback'
import { Screen } from '../../ui/page'
import { PauseNotices, usePauseOf } from '../../ui/pauses'
import { Tag } from '../../ui/state'
import { num, TableBox } from '../../ui/table-box'

function rejectedOf({ since }: Pick<SourceView, 'since'>): number {
  return Object.values(since.rejected).reduce((sum, times) => sum + times, 0)
}

export function Sources() {
  const query = useQuery({ ...sourcesQuery, staleTime: 0, refetchInterval: 10_000 })
  const [text, setText] = useState('')
  const wanted = text.trim().toLowerCase()
  const matching = (sources: readonly SourceView[]) =>
    sources
      .filter(({ name, provider }) => `${name} ${provider.name}`.toLowerCase().includes(wanted))
      .sort((a, b) => b.since.received + rejectedOf(b) - (a.since.received + rejectedOf(a)))
  const filter = (
    <input
      className="input filter"
      aria-label="Filter the sources"
      placeholder="Filter by name"
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  )
  return (
    <Screen title="Sources" head={filter} to={query} what="the sources">
      {({ sources }) => (
        <div className="stack">
          <PauseNotices />
          <Box label="List of sources">
            <SourceTable sources={matching(sources)} />
          </Box>
        </div>
      )}
    </Screen>
  )
}

function SourceTable({ sources }: { readonly sources: readonly SourceView[] }) {
  if (sources.length === 0) return <Empty title="No source with this name" />
  return (
    <>
      <TableBox
        label="Table of sources"
        columns={[
          'Source',
          'Provider',
          'Verified by',
          ...num('Received', 'Recorded', 'Duplicates', 'Conflicts', 'Rejected', 'Pass rate'),
        ]}
      >
        {sources.map((source) => (
          <SourceRow key={source.name} source={source} />
        ))}
      </TableBox>
      <Footnote>Since this process started. {count(sources.length, 'source')}.</Footnote>
    </>
  )
}

function SourceRow({ source }: { readonly source: SourceView }) {
  const { name, provider, verified, scheme, since } = source
  const pause = usePauseOf(name)
  const rejected = rejectedOf(source)
  const all = since.received
  return (
    <tr>
      <td>
        <Link to="/sources/$source" params={{ source: name }}>
          {visible(name)}
        </Link>{' '}
        {pause ? <Tag tone="retrying">Paused</Tag> : null}
      </td>
      <td>{provider.name}</td>
      <td>{verified ? scheme : <Tag tone="retrying">Not verified</Tag>}</td>
      <td className="num">{number(since.received)}</td>
      <td className="num">{number(since.recorded)}</td>
      <td className="num">{number(since.duplicates)}</td>
      <td className="num">{number(since.conflicts)}</td>
      <td className="num">{number(rejected)}</td>
      <td className="num">{all === 0 ? '–' : percent(Math.max(0, all - rejected) / all)}</td>
    </tr>
  )
}
