/** Short messages about what has just been done. They are announced to screen readers and go by themselves. */
import { createStore } from '../app/store'
import css from './toast.module.css'

const SHOWN_MS = 4_000
const toasts = createStore<readonly { readonly id: number; readonly text: string }[]>([])
let nextId = 1

export function toast(text: string): void {
  const id = nextId++
  toasts.set([...toasts.get().slice(-2), { id, text }])
  setTimeout(() => toasts.set(toasts.get().filter((one) => one.id !== id)), SHOWN_MS)
}

export function Toasts() {
  return (
    <div className={css.toasts} role="status" aria-live="polite">
      {toasts.use().map(({ id, text }) => (
        <div key={id}>{text}</div>
      ))}
    </div>
  )
}
