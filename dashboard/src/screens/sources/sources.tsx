/** The configured sources. Those that received something come first. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { SourceView } from '../../api/client'
import { sourcesQuery } from '../../api/queries'
import { count, number, percent, visible } from '../../app/format'
import { PageHead } from '../../ui/card'
import { Empty, Loading, Problem } from '../../ui/feedback'
import { Tag } from '../../ui/state'
import { TableBox } from '../../ui/table-box'

export function rejectedOf({ since }: Pick<SourceView, 'since'>): number {
  return Object.values(since.rejected).reduce((sum, times) => sum + times, 0)
}

export function Sources() {
  const { data, error, refetch } = useQuery({ ...sourcesQuery, staleTime: 0, refetchInterval: 10_000 })
  const [text, setText] = useState('')
  const wanted = text.trim().toLowerCase()
  const shown = (data?.sources ?? [])
    .filter(({ name, provider }) => `${name} ${provider.name}`.toLowerCase().includes(wanted))
    .sort((a, b) => b.since.received + rejectedOf(b) - (a.since.received + rejectedOf(a)))
  return (
    <>
      <PageHead title="Sources">
        <input
          className="input filter type"
          aria-label="Filter the sources"
          placeholder="Filter by name"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </PageHead>
      {error && !data ? <Problem error={error} onRetry={() => void refetch()} /> : null}
      {data === undefined && !error ? <Loading what="the sources" /> : null}
      {data ? (
        <section className="card" aria-label="List of sources">
          {shown.length === 0 ? <Empty title="No source with this name" /> : <SourceTable sources={shown} />}
        </section>
      ) : null}
    </>
  )
}

function SourceTable({ sources }: { readonly sources: readonly SourceView[] }) {
  return (
    <>
      <TableBox label="Table of sources">
        <thead>
          <tr>
            <th scope="col">Source</th>
            <th scope="col">Provider</th>
            <th scope="col">Verified by</th>
            {['Received', 'Recorded', 'Duplicates', 'Conflicts', 'Rejected', 'Pass rate'].map((name) => (
              <th key={name} scope="col" className="num">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sources.map((source) => (
            <SourceRow key={source.name} source={source} />
          ))}
        </tbody>
      </TableBox>
      <p className="inside faint">Since this process started. {count(sources.length, 'source')}.</p>
    </>
  )
}

function SourceRow({ source }: { readonly source: SourceView }) {
  const { name, provider, verified, scheme, since } = source
  const rejected = rejectedOf(source)
  const all = since.received
  return (
    <tr>
      <td>
        <Link to="/sources/$source" params={{ source: name }}>
          {visible(name)}
        </Link>
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
