import { type ReactNode, useId } from 'react'
import css from './card.module.css'

interface BoxProps {
  readonly label?: string
  readonly className?: string | undefined
  readonly children: ReactNode
}

export function Box({ label, className = '', children }: BoxProps) {
  return (
    <section className={`${css.card} ${className}`} aria-label={label}>
      {children}
    </section>
  )
}

interface CardProps {
  readonly title: string
  readonly aside?: ReactNode
  /** Without a margin inside, for tables. */
  readonly flush?: boolean
  readonly children: ReactNode
}

export function Card({ title, aside, flush, children }: CardProps) {
  const id = useId()
  return (
    <section className={css.card} aria-labelledby={id}>
      <div className={`line apart ${css.head}`}>
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {flush ? children : <Inside>{children}</Inside>}
    </section>
  )
}

export function Inside({ children }: { readonly children: ReactNode }) {
  return <div className={css.inside}>{children}</div>
}

export function Footnote({ children }: { readonly children: ReactNode }) {
  return <p className={`${css.footnote} faint`}>{children}</p>
}

export type Fact = readonly [name: ReactNode, value: ReactNode] | null | false

export function Facts({ of }: { readonly of: readonly Fact[] }) {
  return (
    <dl className={css.facts}>
      {of.map((fact, i) =>
        fact ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: a fact that is not known leaves its place empty
          <div key={i}>
            <dt>{fact[0]}</dt>
            <dd>{fact[1]}</dd>
          </div>
        ) : null,
      )}
    </dl>
  )
}
