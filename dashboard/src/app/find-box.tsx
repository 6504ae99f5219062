/** One box that finds an event by whatever is pasted. An exact match opens at once; otherwise the list shows matches. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, type RefObject, useEffect, useState } from 'react'
import { findEvents } from '../api/queries'
import { Icon } from '../ui/icon'
import { toast } from '../ui/toast'
import css from './find-box.module.css'

export function FindBox({ inputRef }: { readonly inputRef: RefObject<HTMLInputElement | null> }) {
  const navigate = useNavigate()
  const shown = useSearch({ from: '/events', shouldThrow: false })?.q ?? ''
  const [text, setText] = useState(shown)
  useEffect(() => setText(shown), [shown])

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    // The keys of the next screen work at once.
    inputRef.current?.blur()
    const q = text.trim()
    if (q === '') return void navigate({ to: '/events', search: (before) => ({ ...before, q: undefined }) })
    try {
      const only = await findEvents(q)
      if (only.length === 1) {
        const { source, id } = only[0]!
        return void navigate({ to: '/events/$source/$id', params: { source, id } })
      }
    } catch {
      toast('The server does not answer. Try again in a moment.')
      return
    }
    void navigate({ to: '/events', search: { q } })
  }

  return (
    <form className={css.find} onSubmit={submit} role="search">
      <Icon name="search" />
      <input
        ref={inputRef}
        className="input"
        type="text"
        aria-label="Find an event"
        placeholder="Paste an id, a reference, a type or a URL"
        autoComplete="off"
        spellCheck={false}
        maxLength={4_000}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur()
        }}
      />
      <kbd>/</kbd>
    </form>
  )
}
