/** Many lines of text, of which only those in view are in the page. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import css from './lines.module.css'

const LINE = 20

interface LinesProps {
  readonly label: string
  readonly count: number
  readonly line: (index: number) => string
  readonly className?: (index: number) => string | undefined
}

export function Lines({ label, count, line, className }: LinesProps) {
  const box = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => LINE,
    overscan: 30,
  })
  return (
    <section
      ref={box}
      className={css.viewer}
      style={{ height: Math.min(460, count * LINE + 16) }}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
      tabIndex={0}
      dir="ltr"
    >
      <div className={css.rows} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => (
          <div
            key={index}
            className={`${css.row} ${className?.(index) ?? ''}`}
            style={{ transform: `translateY(${start}px)` }}
          >
            <bdi>{line(index)}</bdi>
          </div>
        ))}
      </div>
    </section>
  )
}
