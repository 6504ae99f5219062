/** Views of the list: those that everybody needs, and those that the person has saved. Each is an address. */
import { useNavigate } from '@tanstack/react-router'
import { DropdownMenu as Menu } from 'radix-ui'
import { type FormEvent, useState } from 'react'
import { removeView, saveView, useSavedViews } from '../../app/saved-views'
import { type EventsSearch, eventsSearch, parseSearch, stringifySearch } from '../../app/search'
import menu from '../../app/top-menus.module.css'
import { Button, IconButton } from '../../ui/button'
import { copyAndSay } from '../../ui/copy'
import { Dialog } from '../../ui/dialog'
import { Icon } from '../../ui/icon'

const usual: readonly (readonly [name: string, search: EventsSearch])[] = [
  ['Dead letters', { state: 'failed', dead: 'true' }],
  ['Retrying', { state: 'failed', dead: 'false' }],
  ['Waiting', { state: 'pending' }],
  ['Without a handler', { state: 'ignored', reason: 'unhandled' }],
  ['Open conflicts', { hasConflict: 'true' }],
]

export function ViewsMenu({ search }: { readonly search: EventsSearch }) {
  const navigate = useNavigate()
  const saved = useSavedViews()
  const [editing, setEditing] = useState(false)
  const show = (next: EventsSearch) => void navigate({ to: '/events', search: next })
  return (
    <>
      <Menu.Root modal={false}>
        <Menu.Trigger className="button small">
          <Icon name="bookmark" />
          Views
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Content className={menu.menu} align="end" sideOffset={6}>
            {usual.map(([name, view]) => (
              <Menu.Item key={name} onSelect={() => show(view)}>
                {name}
              </Menu.Item>
            ))}
            {saved.length > 0 ? (
              <>
                <hr />
                <Menu.Label className={menu.label}>Saved in this browser</Menu.Label>
              </>
            ) : null}
            {saved.map((view) => (
              <Menu.Item key={view.name} onSelect={() => show(eventsSearch(parseSearch(view.search)))}>
                <span className="cut">{view.name}</span>
              </Menu.Item>
            ))}
            <hr />
            <Menu.Item onSelect={() => setEditing(true)}>
              {saved.length > 0 ? 'Save or remove views…' : 'Save this view…'}
            </Menu.Item>
            <Menu.Item onSelect={() => void copyAndSay(location.href, 'the link to this view')}>
              Copy the link to this view
            </Menu.Item>
          </Menu.Content>
        </Menu.Portal>
      </Menu.Root>
      {editing ? <SaveDialog search={search} onClose={() => setEditing(false)} /> : null}
    </>
  )
}

function SaveDialog({ search, onClose }: { readonly search: EventsSearch; readonly onClose: () => void }) {
  const saved = useSavedViews()
  const [name, setName] = useState('')
  function save(event: FormEvent): void {
    event.preventDefault()
    if (name.trim() === '') return
    saveView({ name: name.trim(), search: stringifySearch(search).slice(1) })
    onClose()
  }
  return (
    <Dialog
      onClose={onClose}
      title="Save this view"
      description="The filters as they are now, under a name, in this browser. For somebody else, copy the link: every filter is in it."
      actions={<Button onClick={onClose}>Close</Button>}
    >
      <form className="line" onSubmit={save}>
        <input
          className="input spread"
          aria-label="Name of the view"
          placeholder="Failed payments of this week"
          maxLength={60}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Button look="primary" type="submit" disabled={name.trim() === ''}>
          Save
        </Button>
      </form>
      {saved.length > 0 ? (
        <ul aria-label="Saved views">
          {saved.map((view) => (
            <li key={view.name} className="line apart">
              <span className="wrap">{view.name}</span>
              <IconButton
                small
                icon="close"
                label={`Remove the view ${view.name}`}
                onClick={() => removeView(view.name)}
              />
            </li>
          ))}
        </ul>
      ) : null}
    </Dialog>
  )
}
