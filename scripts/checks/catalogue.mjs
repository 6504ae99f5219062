/** docs/providers.md lists the catalogue. `node scripts/checks/catalogue.mjs --write` writes it. */
import { writeFile } from 'node:fs/promises'
import { files, read } from './run.mjs'

export const catalogueDocument = {
  name: 'providers document',
  async run() {
    const wanted = await page()
    return (await read('docs/providers.md')) === wanted
      ? []
      : ['docs/providers.md differs from the catalogue; run node scripts/checks/catalogue.mjs --write']
  },
}

async function page() {
  const { catalogue } = await import('hookonce/providers')
  const rows = Object.values(catalogue).map((factory) => {
    const { definition } = factory
    const source = /** @type {import('hookonce').Source} */ (
      /** @type {(options: object) => unknown} */ (/** @type {unknown} */ (factory))(factory.example())
    )
    return `| \`${factory.key}\` | [${definition.name}](${definition.docs}) | ${source.scheme.kind} | ${factory.credentials.map((name) => `\`${name}\``).join(', ')} | ${source.idIsSigned ? 'yes' : source.contentGuard === 'accept' ? 'no' : `no, guard: ${source.contentGuard}`} | ${hours(source.retryWindowMs)} | ${definition.confidence} |`
  })
  return `# Providers

${rows.length} senders. The name of a factory is its key: \`import { stripe } from 'hookonce/providers'\`.

- **Id signed**: whether the signature covers the event id. When it does not, somebody could resend a captured delivery
  under a new id. So when the same signed content comes with a new id, hookonce runs your handler and flags the event
  (guard: accept, the default), stores the event as \`ignored: replayed_content\` without running your handler (guard:
  review), or rejects the delivery (guard: reject). Change it with \`contentGuard\` ([why](decisions/0003-contested-ids.md)).
- **Retries for**: how long the sender retries, if it documents that.
- **Rules**: "verified" rules come from the sender's own documentation or code. "likely": some rules are taken from third
  parties; test with a real delivery first.

For any other sender see [any sender](unknown-senders.md), or write [a provider file](adding-a-provider.md).

| key | sender | scheme | option | id signed | retries for | rules |
|---|---|---|---|---|---|---|
${rows.join('\n')}

## Events that cannot be distinguished

Some deliveries carry neither an id nor a time. When two different events can have exactly the same bytes, the second one
counts as a redelivery ("merged"). When a redelivery cannot be distinguished from another event, it is handled again
("repeated"); a handler for such an event must be safe to call twice.

| key | delivery | result | reason |
|---|---|---|---|
${(await indistinctKinds(catalogue)).join('\n')}
`
}

/** A row for each merged or repeated kind of a provider. @param {object} catalogue */
async function indistinctKinds(catalogue) {
  /** @type {Record<string, import('hookonce/testing/contracts').Kinds>} */
  const kinds = {}
  for (const file of await files('src/providers/kinds', '.ts')) {
    Object.assign(kinds, await import(`../../${file.replace(/^src/, 'dist').replace(/\.ts$/, '.js')}`))
  }
  return Object.keys(catalogue).flatMap((key) =>
    (kinds[key] ?? []).flatMap(({ name, merged, repeated }) => [
      ...(merged === undefined ? [] : [`| \`${key}\` | ${name} | merged | ${merged} |`]),
      ...(repeated === undefined ? [] : [`| \`${key}\` | ${name} | repeated | ${repeated} |`]),
    ]),
  )
}

/** @param {number | null} ms */
function hours(ms) {
  if (ms === null) return 'not documented'
  const value = ms / 3_600_000
  return value >= 48
    ? `${Math.round(value / 24)} days`
    : value >= 1
      ? `${Math.round(value)} h`
      : `${Math.round(value * 60)} min`
}

if (process.argv.includes('--write')) await writeFile('docs/providers.md', await page())
