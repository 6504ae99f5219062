import { emitKeypressEvents } from 'node:readline'
import { curlCommand } from '../../curl.js'
import type { Delivery } from '../../provider.js'
import { eventDetail, payloadText } from '../event-text.js'
import type { EventView, PayloadView } from '../log/event-log.js'
import { whyNoAnswer } from '../post.js'
import { painter } from '../terminal-text.js'
import type { Listener } from './forward-event.js'

export interface Keyboard {
  remember(event: EventView, payload: PayloadView): void
  close(): void
}

interface Last {
  readonly event: EventView
  readonly payload: PayloadView
}

export function readKeyboard(listener: Listener, quit: () => void): Keyboard {
  const { output } = listener
  let last: Last | null = null
  const remember = (event: EventView, payload: PayloadView) => {
    last = { event, payload }
  }
  if (!output.terminal || !process.stdin.isTTY) return { remember, close: () => {} }

  const onKey = (_: string, key: { name?: string; ctrl?: boolean }) => {
    if (key.name === 'q' || (key.ctrl && key.name === 'c')) quit()
    else if (last === null) output.say('no event has been forwarded yet')
    else if (key.name === 'r') void sendAgain(listener, last)
    else if (key.name === 'd') void showDetails(listener, last)
    else if (key.name === 'c') void copyAsCurl(listener, last)
  }
  emitKeypressEvents(process.stdin)
  process.stdin.setRawMode(true).on('keypress', onKey).resume()
  output.say('keys: r send the last event again, d details, c copy as curl, q quit')
  return {
    remember,
    close() {
      process.stdin.off('keypress', onKey).setRawMode(false).pause()
    },
  }
}

async function sendAgain(listener: Listener, { event, payload }: Last): Promise<void> {
  const { output, signer, poster, urlOf } = listener
  try {
    const answer = await poster.post(await signer.sign(event, payload, urlOf(event.source)))
    output.say(`sent again: ${answer.httpStatus}, ${Math.round(answer.ms)} ms`)
  } catch (error) {
    output.say(`sent again, without an answer: ${whyNoAnswer(error)}`)
  }
}

async function showDetails({ output, log }: Listener, { event, payload }: Last): Promise<void> {
  const paint = painter(process.stdout)
  const [now, attempts] = await Promise.all([log.get(event), log.attempts(event)])
  output.result(null, () => `${eventDetail(now ?? event, attempts, paint)}\n${payloadText(payload, paint)}`)
}

/** Copies through the terminal (OSC 52), which also works over SSH. Prints it too, for terminals without OSC 52. */
async function copyAsCurl({ output, signer, urlOf }: Listener, { event, payload }: Last): Promise<void> {
  const command = curlOf(await signer.sign(event, payload, urlOf(event.source)))
  process.stdout.write(`\u001b]52;c;${Buffer.from(command).toString('base64')}\u0007`)
  output.say(command)
}

export function curlOf({ method, url, headers, body }: Delivery): string {
  const bytes = Buffer.from(body)
  const text = bytes.toString('utf8')
  const isText = Buffer.from(text, 'utf8').equals(bytes)
  return curlCommand({ method, url, headers, text: isText ? text : null, base64: bytes.toString('base64') })
}
