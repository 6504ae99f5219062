/**
 * Keys. A screen registers its own while it is shown; the last registered wins. Nothing happens while somebody types in
 * a field, while a dialog is open, or with a modifier, which belongs to the browser.
 */
import { useEffect, useRef } from 'react'

type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>

/** How long `g` waits for its letter. */
const SECOND_KEY_MS = 1_500
const layers: { current: Shortcuts }[] = []
let first: { key: string; at: number } | null = null

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  )
    return true
  return target instanceof HTMLInputElement && !['checkbox', 'radio', 'button'].includes(target.type)
}

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  if (isTyping(event.target)) return
  if (document.querySelector('[role="dialog"], [role="menu"]') !== null) return
  const chord =
    first !== null && performance.now() - first.at < SECOND_KEY_MS ? `${first.key} ${event.key}` : event.key
  first = null
  for (const layer of [...layers].reverse()) {
    const act = layer.current[chord]
    if (act === undefined) continue
    event.preventDefault()
    act(event)
    return
  }
  if (event.key === 'g') first = { key: 'g', at: performance.now() }
}

export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts)
  latest.current = shortcuts
  useEffect(() => {
    if (layers.length === 0) document.addEventListener('keydown', onKey)
    layers.push(latest)
    return () => {
      layers.splice(layers.indexOf(latest), 1)
      if (layers.length === 0) document.removeEventListener('keydown', onKey)
    }
  }, [])
}
