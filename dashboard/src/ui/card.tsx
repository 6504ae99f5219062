/** A titled box, and a list of facts in it. */
import { type ReactNode, useId } from 'react'

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
    <section className="card" aria-labelledby={id}>
      <div className="head">
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      <div className={flush ? '' : 'inside'}>{children}</div>
    </section>
  )
}

export type Fact = readonly [name: string, value: ReactNode] | null | false

export function Facts({ of }: { readonly of: readonly Fact[] }) {
  return (
    <dl className="facts">
      {of.map((fact) =>
        fact ? (
          <div key={fact[0]} style={{ display: 'contents' }}>
            <dt>{fact[0]}</dt>
            <dd>{fact[1]}</dd>
          </div>
        ) : null,
      )}
    </dl>
  )
}

interface PageHeadProps {
  readonly title: string
  readonly children?: ReactNode
}

export function PageHead({ title, children }: PageHeadProps) {
  return (
    <div className="page-head">
      <title>{`${title} · hookonce`}</title>
      <h1>{title}</h1>
      {children ? <div className="line">{children}</div> : null}
    </div>
  )
}
