/** Buttons. `IconButton` has a name for screen readers, which is also its tooltip. */
import type { ComponentPropsWithRef } from 'react'
import { Icon, type IconName } from './icon'

interface ButtonProps extends ComponentPropsWithRef<'button'> {
  readonly look?: 'primary' | 'danger' | 'quiet'
  readonly small?: boolean
  readonly icon?: IconName
}

export function Button({ look, small, icon, className, children, ...rest }: ButtonProps) {
  const names = ['button', look, small ? 'small' : '', className].filter(Boolean).join(' ')
  return (
    <button type="button" {...rest} className={names}>
      {icon ? <Icon name={icon} /> : null}
      {children}
    </button>
  )
}

interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  readonly icon: IconName
  readonly label: string
}

export function IconButton({ icon, label, look = 'quiet', small, className, ...rest }: IconButtonProps) {
  const names = ['button icon', look, small ? 'small' : '', className].filter(Boolean).join(' ')
  return (
    <button type="button" {...rest} className={names} aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  )
}
