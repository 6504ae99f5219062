/** Times, theme, help and the account. The menus are not modal: a modal one adds a style element, which the policy refuses. */
import { DropdownMenu as Menu } from 'radix-ui'
import type { ReactNode } from 'react'
import type { Session } from '../api/client'
import { useSignOut } from '../api/session'
import { IconButton } from '../ui/button'
import { Icon, type IconName } from '../ui/icon'
import { type Preferences, setPreferences, usePreferences } from './preferences'
import css from './top-menus.module.css'

interface TopMenusProps {
  readonly session: Session
  readonly onHelp: () => void
}

export function TopMenus({ session, onHelp }: TopMenusProps) {
  const { theme, times } = usePreferences()
  return (
    <>
      <Choice
        label="Times"
        icon="clock"
        value={times}
        options={[
          ['relative', 'Relative (3 min ago)'],
          ['local', 'Local time'],
          ['utc', 'UTC'],
        ]}
        onChange={(value) => setPreferences({ times: value as Preferences['times'] })}
      />
      <Choice
        label="Theme"
        icon="theme"
        value={theme}
        options={[
          ['system', 'As the system'],
          ['light', 'Light'],
          ['dark', 'Dark'],
        ]}
        onChange={(value) => setPreferences({ theme: value as Preferences['theme'] })}
      />
      <IconButton className={css.help} icon="help" label="Keyboard shortcuts" onClick={onHelp} />
      <Account session={session} />
    </>
  )
}

interface MenuShellProps {
  readonly label: string
  readonly icon: IconName
  readonly children: ReactNode
}

function MenuShell({ label, icon, children }: MenuShellProps) {
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className="button icon quiet" aria-label={label} title={label}>
        <Icon name={icon} />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className={css.menu} align="end" sideOffset={6}>
          {children}
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  )
}

interface ChoiceProps extends Omit<MenuShellProps, 'children'> {
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string])[]
  readonly onChange: (value: string) => void
}

function Choice({ value, options, onChange, ...shell }: ChoiceProps) {
  return (
    <MenuShell {...shell}>
      <Menu.Label className={css.label}>{shell.label}</Menu.Label>
      <Menu.RadioGroup value={value} onValueChange={onChange}>
        {options.map(([option, text]) => (
          <Menu.RadioItem key={option} value={option}>
            {text}
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
    </MenuShell>
  )
}

function Account({ session: { actor, role, by } }: { readonly session: Session }) {
  const signOut = useSignOut()
  return (
    <MenuShell label="Account" icon="user">
      <Menu.Label className={css.label}>
        Signed in as <b>{actor}</b>
        <br />
        Role: {role}
      </Menu.Label>
      {by === 'session' ? (
        <>
          <hr />
          <Menu.Item onSelect={() => signOut.mutate()}>
            <Icon name="out" />
            Sign out
          </Menu.Item>
        </>
      ) : null}
    </MenuShell>
  )
}
