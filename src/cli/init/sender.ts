/** What the written files need to know of the sender: the options it needs, their variables, a type to handle. */
import type { Source } from '../../provider.js'
import type { ProviderFactory } from '../../providers/index.js'

export interface Sender {
  /** The name of the factory in `hookonce/providers`, and of the source. */
  readonly key: string
  readonly name: string
  readonly type: string
  /** The variables of the environment by option. */
  readonly variables: Readonly<Record<string, string>>
  /** Whether `hookonce send` can sign with the variables: not when the private key is the sender's. */
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

/** The options without which the factory refuses: a public key that is fetched from the sender is not one of them. */
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
