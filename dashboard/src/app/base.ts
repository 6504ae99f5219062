/**
 * The path below which this dashboard is served, found at run time: the scripts are in `<base>/assets/`, so that the
 * same build works at `/`, below `/admin` and behind a proxy that removes a part of the path.
 */
const here = new URL(import.meta.url)

function findBase(): string {
  if (import.meta.env.DEV) return ''
  return here.pathname.replace(/\/assets\/[^/]*$/, '')
}

/** Without a slash at the end; empty at the root. */
export const base: string = findBase()

/** The origin with the base path: where senders and the command line reach this server. */
export const serverUrl: string = `${location.origin}${base}`

/** Whether a token can be used to sign in, or the application signs people in. The server writes it into the page. */
export const signInBy: 'token' | 'application' =
  document.documentElement.dataset.signIn === 'application' ? 'application' : 'token'

/** The token of the link that `hookonce dev` prints. It leaves the address before anything else reads it. */
let linkToken = /^#token=(.+)$/.exec(location.hash)?.[1] ?? null
if (linkToken !== null) history.replaceState(null, '', location.pathname + location.search)

/** True on a page that was opened by this link: a question before the sign-in would be refused. */
export const isOpenedByLink = linkToken !== null

/** Null after the first call. */
export function takeLinkToken(): string | null {
  const token = linkToken
  linkToken = null
  return token
}
