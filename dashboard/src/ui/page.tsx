import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Box } from './card'
import { Empty, Loading, Problem } from './feedback'
import css from './page.module.css'

interface PageHeadProps {
  readonly title: string
  readonly children?: ReactNode
}

export function PageHead({ title, children }: PageHeadProps) {
  return (
    <div className={`line apart ${css.head}`}>
      <title>{`${title} · hookonce`}</title>
      <h1>{title}</h1>
      {children ? <div className="line">{children}</div> : null}
    </div>
  )
}

interface AnswerProps<T> {
  readonly to: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>
  readonly what: string
  readonly lines?: number
  readonly children: (data: T) => ReactNode
}

/** The last answer stays while the server does not answer. */
export function Answer<T>({ to: { data, error, refetch }, what, lines, children }: AnswerProps<T>) {
  if (data !== undefined) return children(data)
  return error ? (
    <Problem error={error} onRetry={() => void refetch()} />
  ) : (
    <Loading what={what} lines={lines} />
  )
}

interface ScreenProps<T> extends AnswerProps<T> {
  readonly title: string
  readonly head?: ReactNode
}

export function Screen<T>({ title, head, ...answer }: ScreenProps<T>) {
  return (
    <>
      <PageHead title={title}>{head}</PageHead>
      <Answer {...answer} />
    </>
  )
}

export function EmptyScreen({ title, children }: PageHeadProps) {
  return (
    <Box>
      <Empty title={title}>{children}</Empty>
    </Box>
  )
}
