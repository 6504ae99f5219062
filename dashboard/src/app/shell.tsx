import { Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { Suspense, useEffect, useRef, useState } from 'react'
import type { Session } from '../api/client'
import { useConnection, useLiveConnection } from '../api/live'
import { IconButton } from '../ui/button'
import { Loading, Notice } from '../ui/feedback'
import { FindBox } from './find-box'
import { Help } from './help'
import { NavDrawer, Side } from './navigation'
import { screens } from './screens'
import css from './shell.module.css'
import { useShortcuts } from './shortcuts'
import { TopMenus } from './top-menus'

export function Shell({ session }: { readonly session: Session }) {
  useLiveConnection()
  const navigate = useNavigate()
  const find = useRef<HTMLInputElement>(null)
  const [help, setHelp] = useState(false)
  const [drawer, setDrawer] = useState(false)
  useShortcuts({
    '/': () => find.current?.select(),
    '?': () => setHelp(true),
    ...Object.fromEntries(screens.map(({ key, path }) => [`g ${key}`, () => void navigate({ to: path })])),
  })
  return (
    <div className={css.shell}>
      <a className={css.skip} href="#main">
        Skip to the content
      </a>
      <Side />
      <div className={css.body}>
        <header className={css.top}>
          <IconButton
            className={css.menu}
            icon="menu"
            label="Open the navigation"
            onClick={() => setDrawer(true)}
          />
          <FindBox inputRef={find} />
          <div className="spread" />
          <TopMenus session={session} onHelp={() => setHelp(true)} />
        </header>
        <ConnectionBanner />
        <Screen />
      </div>
      {help ? <Help onClose={() => setHelp(false)} /> : null}
      {drawer ? <NavDrawer onClose={() => setDrawer(false)} /> : null}
    </div>
  )
}

/** A new screen starts at its beginning for screen readers too: the focus moves to it. */
function Screen() {
  const { pathname } = useLocation()
  const main = useRef<HTMLElement>(null)
  const shown = useRef(pathname)
  useEffect(() => {
    if (shown.current === pathname) return
    shown.current = pathname
    if (document.activeElement === document.body || document.activeElement?.closest('nav, main') !== null)
      main.current?.focus({ preventScroll: true })
  }, [pathname])
  return (
    <main className={css.main} id="main" tabIndex={-1} ref={main}>
      <Suspense fallback={<Loading what="the screen" />}>
        <Outlet />
      </Suspense>
    </main>
  )
}

function ConnectionBanner() {
  const connection = useConnection()
  const text =
    connection === 'lost'
      ? 'The server does not answer. The page connects again by itself; what it shows may be old.'
      : connection === 'restored'
        ? 'Connected again. Everything on the page is up to date.'
        : null
  return (
    <div role="status" aria-live="polite" className={css.banner}>
      {text === null ? null : <Notice tone={connection === 'lost' ? 'retrying' : 'succeeded'}>{text}</Notice>}
    </div>
  )
}
