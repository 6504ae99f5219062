/** Short messages about what has just been done. They are announced to screen readers and go by themselves. */
import { useSyncExternalStore } from 'react'
import css from './toast.module.css'

interface Toast {
  readonly id: number
  readonly text: string
}

const SHOWN_MS = 4_000
let toasts: readonly Toast[] = []
let nextId = 1
const watchers = new Set<() => void>()

function set(next: readonly Toast[]): void {
  toasts = next
  for (const watcher of watchers) watcher()
}

export function toast(text: string): void {
  const id = nextId++
  set([...toasts.slice(-2), { id, text }])
  setTimeout(() => set(toasts.filter((one) => one.id !== id)), SHOWN_MS)
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    () => toasts,
  )
  return (
    <div className={css.toasts} role="status" aria-live="polite">
      {shown.map(({ id, text }) => (
        <div key={id}>{text}</div>
      ))}
    </div>
  )
}
