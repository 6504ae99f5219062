/** Senders that sign for all their customers with one key: a signed value of each delivery must name us. */
import type { Compiler, OptionValues } from '../delivery/compile.js'
import { type Field, isList } from '../delivery/field.js'
import { putJson } from '../delivery/put.js'
import type { Reading } from '../delivery/reading.js'
import type { ProviderDefinition } from './definition.js'

export interface Receiver {
  isNamed(reading: Reading): boolean
  /** Writes our name into a sample. */
  address(sample: unknown): void
}

/** Every delivery is ours if the provider's file names no field. */
const anybody: Receiver = { isNamed: () => true, address() {} }

export function compileReceiver(
  { sharedKey, document }: ProviderDefinition,
  options: OptionValues,
  compiler: Compiler,
): Receiver {
  if (!sharedKey || sharedKey.in === undefined || sharedKey.namedBy === null) return anybody
  const ours = [options[sharedKey.namedBy]].flat()
  const named = compiler.field(sharedKey.in)
  const parts = partsOf(sharedKey.in, String(ours[0]))
  return {
    isNamed: (reading) => ours.includes(named(reading)),
    address(sample) {
      if (typeof sample !== 'object') return
      const body = sample as Record<string, unknown>
      const target = document?.form === undefined ? body : body[document.form]
      for (const [path, text] of parts) putJson(target, path, text)
    },
  }
}

/** Each JSON path of a field with its part of the text. */
function partsOf(field: Field, text: string): readonly (readonly [string, string])[] {
  if (typeof field === 'string') return [[field.replace('json:', ''), text]]
  if (isList(field) || !('fields' in field)) return []
  const texts = text.split(field.separator ?? '')
  return field.fields.flatMap((part, index) => partsOf(part, texts[index] ?? ''))
}
