/** The head of a screen, and the parts of a screen about one thing. */
import type { ReactNode } from 'react'
import css from './page.module.css'

interface PageHeadProps {
  readonly title: string
  readonly children?: ReactNode
}

export function PageHead({ title, children }: PageHeadProps) {
  return (
    <div className={css.head}>
      <title>{`${title} · hookonce`}</title>
      <h1>{title}</h1>
      {children ? <div className="line">{children}</div> : null}
    </div>
  )
}

interface DetailHeadProps {
  /** Links to the screens above this one. */
  readonly path: ReactNode
  readonly title: string
  readonly heading?: string
  readonly badge: ReactNode
  readonly actions: ReactNode
  readonly children?: ReactNode
}

export function DetailHead({ path, title, heading = title, badge, actions, children }: DetailHeadProps) {
  return (
    <header className={css.detail}>
      <title>{`${title} · hookonce`}</title>
      <nav aria-label="Path" className="faint">
        {path}
      </nav>
      <div className="line apart">
        <div className="line">
          <h1 className="wrap">{heading}</h1>
          {badge}
        </div>
        {actions}
      </div>
      {children}
    </header>
  )
}

export function Columns({ children, side }: { readonly children: ReactNode; readonly side: ReactNode }) {
  return (
    <div className={css.columns}>
      <div className="stack">{children}</div>
      <div className="stack">{side}</div>
    </div>
  )
}
