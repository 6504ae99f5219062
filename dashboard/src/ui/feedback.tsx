/** What is shown while there is nothing to show yet, when there is nothing at all, and when something failed. */
import type { ReactNode } from 'react'
import { ApiError } from '../api/client'
import { Button } from './button'

export function Skeleton({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div className="stack" aria-hidden="true">
      {Array.from({ length: lines }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike
        <span key={i} className="skeleton" style={{ width: `${90 - ((i * 23) % 50)}%` }} />
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

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
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
    <div className="notice dead" role="alert">
      <span className="grow wrap">{text}</span>
      {onRetry ? (
        <Button small onClick={onRetry}>
          Try again
        </Button>
      ) : null}
    </div>
  )
}

interface NoticeProps {
  readonly tone: 'dead' | 'retrying' | 'processing' | 'succeeded' | 'pending'
  readonly children: ReactNode
}

export function Notice({ tone, children }: NoticeProps) {
  return (
    <div className={`notice ${tone}`}>
      <div className="grow">{children}</div>
    </div>
  )
}
