/**
 * A dialog. It has no Radix overlay, because that one adds a style element to the page, which the content security
 * policy refuses; a plain element darkens the page instead.
 */
import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

interface DialogProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: string
  readonly description?: ReactNode
  readonly wide?: boolean
  readonly children: ReactNode
}

export function Dialog({ open, onClose, title, description, wide, children }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
      <Radix.Portal>
        <div className="veil" />
        <Radix.Content
          className={wide ? 'dialog wide' : 'dialog'}
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
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
