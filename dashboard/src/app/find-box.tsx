/**
 * One box that finds an event by whatever is pasted. While somebody types, it suggests events, references, types and
 * sources. An exact match opens at once; otherwise the list shows matches.
 */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, type KeyboardEvent, type RefObject, useEffect, useId, useState } from 'react'
import { findEvents } from '../api/queries'
import { Icon } from '../ui/icon'
import { toast } from '../ui/toast'
import css from './find-box.module.css'
import { visible } from './format'
import type { Suggestion } from './suggestions'
import { useSuggestions } from './use-suggestions'

export function FindBox({ inputRef }: { readonly inputRef: RefObject<HTMLInputElement | null> }) {
  const navigate = useNavigate()
  const listId = useId()
  const shown = useSearch({ from: '/events', shouldThrow: false })?.q ?? ''
  const [text, setText] = useState(shown)
  const [typing, setTyping] = useState(false)
  const [active, setActive] = useState(-1)
  const suggestions = useSuggestions(typing ? text.trim() : '')
  const open = suggestions.length > 0
  const chosen = open ? suggestions[active] : undefined
  useEffect(() => setText(shown), [shown])

  function close(): void {
    setTyping(false)
    setActive(-1)
  }

  function take({ to }: Suggestion): void {
    close()
    // The keys of the next screen work at once.
    inputRef.current?.blur()
    void navigate(to)
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (chosen) return take(chosen)
    close()
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

  function onKeyDown(event: KeyboardEvent<HTMLInputElement>): void {
    if (event.key === 'Escape') {
      if (open) close()
      else event.currentTarget.blur()
    }
    if (!open || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return
    event.preventDefault()
    const step = event.key === 'ArrowDown' ? 1 : -1
    // -1 is the text itself.
    setActive((before) => ((before + 1 + step + suggestions.length + 1) % (suggestions.length + 1)) - 1)
  }

  return (
    <form className={css.find} onSubmit={submit} role="search">
      <Icon name="search" />
      <input
        ref={inputRef}
        className="input"
        type="text"
        role="combobox"
        aria-label="Find an event"
        aria-expanded={open}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={chosen ? `${listId}-${active}` : undefined}
        placeholder="Paste an id, a reference, a type or a URL"
        autoComplete="off"
        spellCheck={false}
        maxLength={4_000}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setTyping(true)
          setActive(-1)
        }}
        onBlur={close}
        onKeyDown={onKeyDown}
      />
      <kbd>/</kbd>
      <div className={css.list} id={listId} role="listbox" aria-label="Suggestions" hidden={!open}>
        {suggestions.map((one, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and the keys
          <div
            key={one.key}
            id={`${listId}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === active}
            className={css.option}
            // The field would lose the focus before the click.
            onPointerDown={(event) => event.preventDefault()}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(one)}
          >
            <Icon name={one.icon} />
            <bdi className="cut">{visible(one.text)}</bdi>
            <span className="faint cut">{visible(one.about)}</span>
          </div>
        ))}
      </div>
    </form>
  )
}
