import { Button } from '../ui/button'
import { type Fact, Facts } from '../ui/card'
import { Dialog } from '../ui/dialog'
import { screens } from './screens'

type Key = readonly [pressed: readonly string[], text: string]

const keys: readonly Key[] = [
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

export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="Keyboard shortcuts" actions={<Button onClick={onClose}>Close</Button>}>
      <div className="grid-2">
        <Facts of={keys.map(factOf)} />
        <Facts of={screens.map(({ key, name }) => factOf([['g', key], `Go to ${name}`]))} />
      </div>
    </Dialog>
  )
}

function factOf([pressed, text]: Key): Fact {
  const shown = pressed.map((key) => <kbd key={key}>{key}</kbd>)
  return [
    <span key="keys" className="line" style={{ height: '100%' }}>
      {shown}
    </span>,
    text,
  ]
}
