import { type ReactNode, useState } from 'react'
import { Button, IconButton } from './button'
import css from './copy.module.css'
import { toast } from './toast'

/** Also without the clipboard API, which browsers offer only to secure origins. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    area.setAttribute('aria-hidden', 'true')
    area.className = 'hidden'
    document.body.append(area)
    const focused = document.activeElement
    area.select()
    const done = document.execCommand('copy')
    area.remove()
    if (focused instanceof HTMLElement) focused.focus()
    return done
  }
}

/** A terminal would execute the control characters of a sender when the text is pasted into it. */
export async function copyAndSay(text: string, what: string): Promise<void> {
  const safe = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => (/[\n\t]/.test(char) ? char : ''))
  if (!(await copyText(safe))) toast('The browser does not allow copying.')
  else toast(safe === text ? `Copied ${what}.` : `Copied ${what}, without its control characters.`)
}

interface CopyProps {
  readonly text: string | (() => string | Promise<string>)
  readonly what: string
}

function useCopy({ text, what }: CopyProps): [boolean, () => Promise<void>] {
  const [done, setDone] = useState(false)
  return [
    done,
    async () => {
      await copyAndSay(typeof text === 'string' ? text : await text(), what)
      setDone(true)
      setTimeout(() => setDone(false), 1_500)
    },
  ]
}

export function CopyIcon(props: CopyProps) {
  const [done, copy] = useCopy(props)
  return <IconButton small icon={done ? 'check' : 'copy'} label={`Copy ${props.what}`} onClick={copy} />
}

export function CopyButton({ children, ...props }: CopyProps & { readonly children: string }) {
  const [done, copy] = useCopy(props)
  return (
    <Button small icon={done ? 'check' : 'copy'} onClick={copy}>
      {children}
    </Button>
  )
}

export function Copyable({ children, ...props }: CopyProps & { readonly children: ReactNode }) {
  return (
    <span className={css.copyable}>
      {children}
      <CopyIcon {...props} />
    </span>
  )
}

interface CodeBlockProps {
  readonly title: string
  readonly text: string
  readonly what: string
}

export function CodeBlock({ title, text, what }: CodeBlockProps) {
  return (
    <div className="stack tight">
      <h3>{title}</h3>
      <div className={css.box}>
        <pre dir="ltr">{text}</pre>
        <CopyIcon text={text} what={what} />
      </div>
    </div>
  )
}
