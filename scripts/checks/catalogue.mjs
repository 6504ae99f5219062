/** docs/providers.md lists the catalogue as it is. `node scripts/checks/catalogue.mjs --write` makes it anew. */
import { writeFile } from 'node:fs/promises'
import { read } from './run.mjs'

export const catalogueDocument = {
  name: 'providers document',
  async run() {
    const wanted = await page()
    return (await read('docs/providers.md')) === wanted
      ? []
      : ['docs/providers.md is not what the catalogue says; run node scripts/checks/catalogue.mjs --write']
  },
}

async function page() {
  const { catalogue } = await import('hookonce/providers')
  const rows = Object.values(catalogue).map((factory) => {
    const { definition } = factory
    const source = /** @type {import('hookonce').Source} */ (
      /** @type {(options: object) => unknown} */ (/** @type {unknown} */ (factory))(factory.example())
    )
    return `| \`${factory.key}\` | [${definition.name}](${definition.docs}) | ${source.scheme.kind} | ${factory.credentials.map((name) => `\`${name}\``).join(', ')} | ${source.idIsSigned ? 'yes' : `no, guard: ${source.contentGuard}`} | ${hours(source.retryWindowMs)} | ${definition.confidence} |`
  })
  return `# Providers

${rows.length} senders. A factory has the name of its key: \`import { stripe } from 'hookonce/providers'\`. "Id signed" says whether the
signature covers the event id; where it does not, the content guard decides what happens to known bytes under a new id.
"Retries for" is how long the sender keeps trying, where its documentation says so. "likely" means that not all of its
rules could be read in the sender's own documentation or code. Anything else: \`hmac({...})\`, or
[a file of its own](adding-a-provider.md).

| key | sender | scheme | option | id signed | retries for | rules |
|---|---|---|---|---|---|---|
${rows.join('\n')}
`
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
