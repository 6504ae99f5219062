/**
 * A dialog. It has no Radix overlay, because that one adds a style element to the page, which the content security
 * policy refuses; a plain element darkens the page instead.
 */
import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import css from './dialog.module.css'

interface DialogProps {
  readonly onClose: () => void
  readonly title: string
  readonly description?: ReactNode
  readonly wide?: boolean
  readonly actions: ReactNode
  readonly children: ReactNode
}

export function Dialog({ onClose, title, description, wide, actions, children }: DialogProps) {
  return (
    <Radix.Root open onOpenChange={onClose}>
      <Radix.Portal>
        <Veil />
        <Radix.Content
          className={`${css.dialog} ${wide ? css.wide : ''}`}
          {...(description ? {} : { 'aria-describedby': undefined })}
        >
          <div className="stack">
            <Radix.Title asChild>
              <h2>{title}</h2>
            </Radix.Title>
            {description ? (
              <Radix.Description asChild>
                <div className="muted">{description}</div>
              </Radix.Description>
            ) : null}
            {children}
            <div className={`line ${css.actions}`}>{actions}</div>
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

export function Veil() {
  return <div className={css.veil} />
}
