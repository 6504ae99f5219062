/** A table that may be wider than the window. It scrolls by itself, also with the keyboard. */
import type { ReactNode } from 'react'
import css from './table-box.module.css'

interface TableBoxProps {
  readonly label: string
  /** `num` is a column of numbers; the name of a `hidden` one is for screen readers. */
  readonly columns: readonly (string | readonly [name: string, look: 'num' | 'hidden'])[]
  readonly children: ReactNode
}

export const num = (...names: readonly string[]) => names.map((name) => [name, 'num'] as const)

export function TableBox({ label, columns, children }: TableBoxProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <section className={css.box} aria-label={label} tabIndex={0}>
      <table className={css.table}>
        <thead>
          <tr>
            {columns.map((column) => {
              const [name, look] = typeof column === 'string' ? [column] : column
              return (
                <th key={name} scope="col" className={look === 'num' ? 'num' : undefined}>
                  {look === 'hidden' ? <span className="hidden">{name}</span> : name}
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}
