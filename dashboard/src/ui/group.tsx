/** A row about a number of events: what they have in common, how many they are, and what to do with them. */
import type { ReactNode } from 'react'
import css from './group.module.css'
import type { Shown } from './state'

interface GroupProps {
  readonly tone?: Shown
  readonly count: string
  readonly actions: ReactNode
  readonly children: ReactNode
}

export function Group({ tone, count, actions, children }: GroupProps) {
  return (
    <div className={`${css.group} ${tone ?? ''}`}>
      <div className="stack tight">{children}</div>
      <p className={css.count}>{count}</p>
      <div className="line">{actions}</div>
    </div>
  )
}
