/** A time series. uPlot draws it on a canvas; the label says the same in words for those who do not see it. */
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { short } from '../app/format'
import { usePreferences } from '../app/preferences'
import css from './chart.module.css'

interface Series {
  readonly name: string
  /** A colour of the style sheet. */
  readonly colour: string
  readonly values: readonly number[]
  readonly filled?: boolean
}

interface ChartProps {
  readonly label: string
  /** Milliseconds. */
  readonly at: readonly number[]
  readonly series: readonly Series[]
  readonly height?: number
  /** Called with the range, in milliseconds, that somebody has drawn over the chart. */
  readonly onSelect?: (from: number, to: number) => void
}

export function Chart({ label, at, series, height = 220, onSelect }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const { theme, times } = usePreferences()
  const shape = series.map(({ name }) => name).join()
  const latest = useRef({ at, series, onSelect })
  latest.current = { at, series, onSelect }

  // biome-ignore lint/correctness/useExhaustiveDependencies: the names of the series and the theme make another chart
  useEffect(() => {
    const element = box.current!
    const made = new uPlot(
      {
        ...optionsOf(element, latest.current.series, height, times === 'utc'),
        ...(latest.current.onSelect ? selecting((from, to) => latest.current.onSelect?.(from, to)) : {}),
      },
      dataOf(latest.current),
      element,
    )
    plot.current = made
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      made.destroy()
      plot.current = null
    }
  }, [shape, height, theme, times, document.documentElement.dataset.theme])

  useEffect(() => plot.current?.setData(dataOf({ at, series })), [at, series])
  return <div ref={box} className={css.chart} role="img" aria-label={label} />
}

/** Fewer pixels are a click. */
const SHORTEST_SELECTION = 8

function selecting(onSelect: (from: number, to: number) => void): Partial<uPlot.Options> {
  return {
    cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { size: 7 } },
    hooks: {
      setSelect: [
        (plot) => {
          const { left, width } = plot.select
          if (width < SHORTEST_SELECTION) return
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          onSelect(
            Math.round(plot.posToVal(left, 'x') * 1_000),
            Math.round(plot.posToVal(left + width, 'x') * 1_000),
          )
        },
      ],
    },
  }
}

function dataOf({ at, series }: Pick<ChartProps, 'at' | 'series'>): uPlot.AlignedData {
  return [at.map((ms) => ms / 1_000), ...series.map(({ values }) => [...values])]
}

function optionsOf(
  element: HTMLElement,
  series: readonly Series[],
  height: number,
  utc: boolean,
): uPlot.Options {
  const style = getComputedStyle(element)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const font = `12px ${colour('--font')}`
  const axis = {
    stroke: colour('--text-3'),
    font,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: element.clientWidth,
    height,
    // The last label is centred below the last tick, so half of it needs room.
    padding: [8, 20, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    legend: {
      live: true,
      markers: { width: 0, fill: (_plot, i) => colour(series[i - 1]?.colour ?? '--text-3') },
    },
    ...(utc ? { tzDate: (at: number) => uPlot.tzDate(new Date(at * 1_000), 'Etc/UTC') } : {}),
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(4, high * 1.1)] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 72,
        values: (_plot, splits) => splits.map(tickText(splits, utc)),
      },
      {
        ...axis,
        size: 48,
        values: (_plot, values) => values.map((value) => (Number.isInteger(value) ? short(value) : '')),
      },
    ],
    series: [
      { label: 'Time', value: timeText(utc) },
      ...series.map(({ name, colour: own, filled }) => ({
        label: name,
        stroke: colour(own),
        width: 1.5,
        points: { show: false },
        ...(filled ? { fill: `color-mix(in srgb, ${colour(own)} 12%, transparent)` } : {}),
        value: (_plot: uPlot, value: number | null) => (value === null ? '–' : short(value)),
      })),
    ],
  }
}

function timeText(utc: boolean) {
  const format = new Intl.DateTimeFormat('en-GB', {
    day: '2-digit',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(utc ? { timeZone: 'UTC' } : {}),
  })
  return (_plot: uPlot, value: number | null) => (value === null ? '–' : format.format(value * 1_000))
}

/** Hours within a day, days over several; the first tick of a day has its date. */
function tickText(splits: readonly number[], utc: boolean) {
  const zone = utc ? { timeZone: 'UTC' } : {}
  const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', ...zone })
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', ...zone })
  const step = (splits[1] ?? 0) - (splits[0] ?? 0)
  return (at: number): string => {
    const time = hour.format(at * 1_000)
    return step >= 86_400 || time === '00:00' ? day.format(at * 1_000) : time
  }
}
