/** Nobody sees a screen before the server has said who they are. */
import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../api/session'
import { Problem } from '../ui/feedback'
import { Toasts } from '../ui/toast'
import { Shell } from './shell'
import css from './shell.module.css'
import { SignIn } from './sign-in'

export function Gate() {
  return (
    <>
      <Inside />
      <Toasts />
    </>
  )
}

function Inside() {
  const { data: session, error, refetch } = useQuery({ ...sessionQuery, refetchInterval: 300_000 })
  if (session) {
    if (session.role !== 'worker') return <Shell session={session} />
    return <SignIn problem="This token is for workers. It may not read the log." />
  }
  if (session === null) return <SignIn />
  if (error) {
    return (
      <main className={css.main}>
        <Problem error={error} onRetry={() => void refetch()} />
      </main>
    )
  }
  return <main className={css.main} aria-busy="true" />
}
