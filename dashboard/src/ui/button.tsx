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

interface IconButtonProps extends Omit<ButtonProps, 'children'> {
  readonly icon: IconName
  /** For screen readers, and the tooltip. */
  readonly label: string
}

export function IconButton({ label, className = '', ...rest }: IconButtonProps) {
  return <Button look="quiet" {...rest} className={`icon ${className}`} aria-label={label} title={label} />
}
