import type { ReactNode } from 'react'
import { ApiError } from '../api/client'
import { Button } from './button'
import css from './feedback.module.css'
import type { Shown } from './state'

export function Skeleton({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div className="stack" aria-hidden="true" data-loading>
      {Array.from({ length: lines }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike
        <span key={i} className={css.skeleton} style={{ width: `${90 - ((i * 23) % 50)}%` }} />
      ))}
    </div>
  )
}

/** For a whole screen, with a text for screen readers. */
export function Loading({ what, lines = 6 }: { readonly what: string; readonly lines?: number }) {
  return (
    <div role="status">
      <span className="hidden">Loading {what}</span>
      <Skeleton lines={lines} />
    </div>
  )
}

export function Empty({ title, children }: { readonly title?: string; readonly children?: ReactNode }) {
  return (
    <div className={css.empty}>
      {title ? <h2>{title}</h2> : null}
      {children}
    </div>
  )
}

interface ProblemProps {
  readonly error: unknown
  readonly onRetry?: () => void
}

export function Problem({ error, onRetry }: ProblemProps) {
  const text =
    error instanceof ApiError ? error.message : 'The page met an unexpected error. Reload it to go on.'
  return (
    <div className={`${css.notice} dead`} role="alert">
      <div className="wrap">{text}</div>
      {onRetry ? (
        <Button small onClick={onRetry}>
          Try again
        </Button>
      ) : null}
    </div>
  )
}

interface NoticeProps {
  readonly tone: Shown
  readonly role?: 'alert'
  readonly children: ReactNode
}

export function Notice({ tone, role, children }: NoticeProps) {
  return (
    <div className={`${css.notice} ${tone}`} role={role}>
      <div>{children}</div>
    </div>
  )
}
