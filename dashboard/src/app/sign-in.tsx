/** Signing in with a token. The token becomes a cookie that scripts cannot read; the page does not keep it. */
import { type FormEvent, useState } from 'react'
import { useSignIn } from '../api/session'
import icon from '../icon.svg'
import { Button } from '../ui/button'
import { Box } from '../ui/card'
import { Notice } from '../ui/feedback'
import { signInBy } from './base'
import nav from './navigation.module.css'
import css from './sign-in.module.css'

export function SignIn({ problem }: { readonly problem?: string }) {
  return (
    <main className={css.page}>
      <Box className="stack">
        <div className={`${nav.brand} ${css.brand}`}>
          <img src={icon} alt="" />
          hookonce
        </div>
        {signInBy === 'token' ? (
          <TokenForm problem={problem} />
        ) : (
          <>
            <h1>Sign in</h1>
            <p role="alert">
              {problem ?? 'Sign in to the application that this dashboard belongs to, then reload this page.'}
            </p>
          </>
        )}
      </Box>
    </main>
  )
}

function TokenForm({ problem }: { readonly problem?: string | undefined }) {
  const [token, setToken] = useState('')
  const signIn = useSignIn()
  function submit(event: FormEvent): void {
    event.preventDefault()
    if (token.trim() !== '') signIn.mutate(token.trim())
  }
  const failure = signIn.error?.message ?? problem
  return (
    <form className="stack" onSubmit={submit}>
      <h1>Sign in</h1>
      <label className="field">
        <span className="label">Token</span>
        <input
          className="input"
          type="password"
          autoComplete="current-password"
          // biome-ignore lint/a11y/noAutofocus: the only field of the page
          autoFocus
          required
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        <span className="hint">
          A token of the admin API. <code>hookonce token create</code> makes one, and{' '}
          <code>hookonce dev</code> prints a link that signs in.
        </span>
      </label>
      {failure ? (
        <Notice tone="dead" role="alert">
          {failure}
        </Notice>
      ) : null}
      <Button look="primary" type="submit" disabled={signIn.isPending}>
        Sign in
      </Button>
    </form>
  )
}
