/** The first screen: is everything fine, and if not, what to do. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useMemo } from 'react'
import { useLiveRefresh } from '../../api/live'
import { statsQuery } from '../../api/queries'
import { type Overview as Data, overviewQuery } from '../../api/screen-queries'
import { count } from '../../app/format'
import type { Window } from '../../app/search'
import { Card } from '../../ui/card'
import { Skeleton } from '../../ui/feedback'
import { Answer, PageHead } from '../../ui/page'
import { Segments } from '../../ui/segments'
import { FirstRun } from '../first-run'
import { AttentionList } from './attention'
import { LatencyTable } from './latency'
import css from './overview.module.css'
import { SourceRows } from './source-rows'
import { Tiles } from './tiles'

// It is loaded together with the figures, and not after them.
const chart = import('../../ui/chart')
const Chart = lazy(async () => ({ default: (await chart).Chart }))

const windows = [
  ['1h', '1 h'],
  ['24h', '24 h'],
  ['7d', '7 d'],
  ['30d', '30 d'],
] as const

export function Overview() {
  const { window } = useSearch({ from: '/' })
  const navigate = useNavigate()
  const query = useQuery(overviewQuery(window))
  const { data, refetch } = query
  const { data: stats } = useQuery(statsQuery)
  useLiveRefresh(() => void refetch(), 2_000)
  const isEmpty = stats?.sources.every(({ recorded }) => recorded === 0)
  if (isEmpty && (data === undefined || data.totals.received === 0)) return <FirstRun />
  return (
    <>
      <PageHead title="Overview">
        <Segments
          label="Time"
          value={window}
          options={windows}
          onChange={(next) => void navigate({ to: '/', search: { window: next } })}
        />
      </PageHead>
      <Answer to={query} what="the overview" lines={12}>
        {(figures) => <Figures data={figures} window={window} />}
      </Answer>
    </>
  )
}

function Figures({ data, window }: { readonly data: Data; readonly window: Window }) {
  return (
    <div className="stack">
      <Tiles data={data} window={window} />
      <div className={css.columns}>
        <div className="stack">
          <Card
            title="Deliveries and attempts"
            aside={<span className={`faint ${css.hint}`}>Draw over a time to see its events</span>}
          >
            <Flow data={data} />
          </Card>
          <SourceRows data={data} window={window} />
          <LatencyTable latency={data.latency} />
        </div>
        <div className="stack">
          <AttentionList />
        </div>
      </div>
    </div>
  )
}

function Flow({ data }: { readonly data: Data }) {
  const navigate = useNavigate()
  const at = useMemo(() => data.at.map((text) => Date.parse(text)), [data.at])
  const { totals, series } = data
  const shown = useMemo(
    () => [
      { name: 'Received', colour: '--accent', values: series.received, filled: true },
      { name: 'Succeeded', colour: '--succeeded-mark', values: series.succeeded },
      { name: 'Duplicates stopped', colour: '--pending-mark', values: series.duplicates },
      { name: 'Failed attempts', colour: '--dead-mark', values: series.failed },
    ],
    [series],
  )
  const label = `${count(totals.received, 'delivery', 'deliveries')} received, ${count(totals.duplicates, 'duplicate')} stopped, ${totals.succeeded} succeeded, ${count(totals.failed, 'failed attempt')}.`
  return (
    <div className={css.chart}>
      <Suspense fallback={<Skeleton lines={6} />}>
        <Chart
          label={label}
          at={at}
          series={shown}
          onSelect={(from, to) =>
            void navigate({
              to: '/events',
              search: { from: new Date(from).toISOString(), to: new Date(to).toISOString() },
            })
          }
        />
      </Suspense>
    </div>
  )
}
