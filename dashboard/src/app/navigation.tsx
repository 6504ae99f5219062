import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { Dialog } from 'radix-ui'
import { Fragment, useEffect, useRef } from 'react'
import { useConnection } from '../api/live'
import { statsQuery } from '../api/queries'
import icon from '../icon.svg'
import { Veil } from '../ui/dialog'
import { Icon } from '../ui/icon'
import { short } from './format'
import css from './navigation.module.css'
import { screens } from './screens'

export function Side() {
  return (
    <aside className={css.side} aria-label="Side bar">
      <Link to="/" className={css.brand}>
        <img src={icon} alt="" />
        hookonce
      </Link>
      <NavList />
      <div className={css.foot}>
        <LiveState />
      </div>
    </aside>
  )
}

function NavList() {
  const { data: stats } = useQuery(statsQuery)
  const dead = (stats?.sources ?? []).reduce((sum, source) => sum + source.dead, 0)
  const { pathname } = useLocation()
  return (
    <nav className={css.nav} aria-label="Screens">
      <ul>
        {screens.map(({ path, name, icon: shape, group }, i) => {
          const current = path === '/' ? pathname === '/' : pathname.startsWith(path)
          return (
            <Fragment key={path}>
              {group !== screens[i - 1]?.group && i > 0 ? <li className={css.gap}>Setup</li> : null}
              <li>
                <Link to={path} aria-current={current ? 'page' : undefined}>
                  <Icon name={shape} />
                  {name}
                  {path === '/dead-letters' && dead > 0 ? (
                    <span className={`${css.tally} dead`}>
                      {short(dead)}
                      <span className="hidden"> waiting</span>
                    </span>
                  ) : null}
                </Link>
              </li>
            </Fragment>
          )
        })}
      </ul>
    </nav>
  )
}

const states = {
  connecting: ['pending', 'Connecting'],
  live: ['succeeded', 'Live'],
  restored: ['succeeded', 'Live again'],
  lost: ['retrying', 'Not connected'],
} as const

function LiveState() {
  const [tone, text] = states[useConnection()]
  return <span className={`live ${tone}`}>{text}</span>
}

export function NavDrawer({ onClose }: { readonly onClose: () => void }) {
  const { pathname } = useLocation()
  const shown = useRef(pathname)
  useEffect(() => {
    if (pathname !== shown.current) onClose()
  }, [pathname, onClose])
  return (
    <Dialog.Root open onOpenChange={onClose}>
      <Dialog.Portal>
        <Veil />
        <Dialog.Content className={css.drawer} aria-describedby={undefined}>
          <Dialog.Title className="hidden">Navigation</Dialog.Title>
          <Side />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
