/** A log for a person: warnings and errors as lines of words on standard error. Rejections have a line of their own. */
import { jsonLog, type LogFields, type Logger } from '../../log.js'
import { type Output, plain, type Style } from '../output.js'

export function wordsLog(output: Output): Logger {
  if (output.json) return jsonLog()
  const line = (style: Style, level: string) => (fields: LogFields, message: string) => {
    if (message === 'delivery rejected') return
    const facts = Object.entries(fields).map(([name, value]) => `${name}=${plain(String(value))}`)
    output.say((paint) => `${paint(style, level)}  ${message}  ${paint('dim', facts.join(' '))}`)
  }
  const nothing = () => {}
  return { debug: nothing, info: nothing, warn: line('yellow', 'warning'), error: line('red', 'error') }
}
