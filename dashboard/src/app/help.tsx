/** The keys of the keyboard, in a dialog. `?` opens it. */
import { Button } from '../ui/button'
import { Dialog } from '../ui/dialog'
import { screens } from './screens'

const keys: readonly (readonly [keys: readonly string[], text: string])[] = [
  [['/'], 'Find an event'],
  [['j', 'k'], 'Next and previous row'],
  [['Enter'], 'Open the row'],
  [['x'], 'Select the row'],
  [['r'], 'Retry or replay the event'],
  [['c'], 'Copy the id of the event'],
  [['l'], 'Live mode of the list on and off'],
  [['Esc'], 'Close, or leave the find box'],
  [['?'], 'This list'],
]

export function Help({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Keyboard shortcuts">
      <div className="grid-2">
        <KeyList of={keys} />
        <KeyList of={screens.map(({ key, name }) => [['g', key], `Go to ${name}`] as const)} />
      </div>
      <div className="actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  )
}

function KeyList({ of }: { readonly of: readonly (readonly [readonly string[], string])[] }) {
  return (
    <dl className="facts">
      {of.map(([pressed, text]) => (
        <div key={text} style={{ display: 'contents' }}>
          <dt className="line">
            {pressed.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  )
}
