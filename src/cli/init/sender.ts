import type { Source } from '../../provider.js'
import type { ProviderFactory } from '../../providers/index.js'

export interface Sender {
  /** Names the factory in `hookonce/providers` and the source. */
  readonly key: string
  readonly name: string
  readonly type: string
  /** Environment variables by option. */
  readonly variables: Readonly<Record<string, string>>
  /** False when only the sender has the private key, so `hookonce send` cannot sign. */
  readonly signs: boolean
}

export function senderOf(factory: ProviderFactory): Sender {
  const make = factory as unknown as (options: Readonly<Record<string, unknown>>) => Source
  const options = factory.example() as Record<string, unknown>
  const { privateKey, ...example } = options
  const prefix = snake(factory.key)
  const variables = required(make, example).map((option) => [
    option,
    option === 'secret' ? `${prefix}_WEBHOOK_SECRET` : `${prefix}_${snake(option)}`,
  ])
  return {
    key: factory.key,
    name: factory.definition.name,
    type: make(options).sampleTypes[0]!,
    variables: Object.fromEntries(variables),
    signs: privateKey === undefined,
  }
}

/** Tries to leave each option out. A public key that is fetched from the sender, for example, is not required. */
function required(
  make: (options: Readonly<Record<string, unknown>>) => Source,
  example: Readonly<Record<string, unknown>>,
): readonly string[] {
  return Object.keys(example).filter((option) => {
    const { [option]: _, ...others } = example
    try {
      make(others)
      return false
    } catch {
      return true
    }
  })
}

function snake(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()
}
