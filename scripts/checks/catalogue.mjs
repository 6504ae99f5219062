/** docs/providers.md lists the catalogue as it is. `node scripts/checks/catalogue.mjs --write` makes it anew. */
import { writeFile } from 'node:fs/promises'
import { files, read } from './run.mjs'

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
    return `| \`${factory.key}\` | [${definition.name}](${definition.docs}) | ${source.scheme.kind} | ${factory.credentials.map((name) => `\`${name}\``).join(', ')} | ${source.idIsSigned ? 'yes' : source.contentGuard === 'accept' ? 'no' : `no, guard: ${source.contentGuard}`} | ${hours(source.retryWindowMs)} | ${definition.confidence} |`
  })
  return `# Providers

${rows.length} senders. A factory has the name of its key: \`import { stripe } from 'hookonce/providers'\`. "Id signed" says whether the
signature covers the event id. Where it does not, an event with the signed content of another one is handled and flagged;
\`contentGuard: 'review'\` or \`'reject'\` withholds it ([why](decisions/0003-contested-ids.md)).
"Retries for" is how long the sender keeps trying, where its documentation says so. "likely" means that not all of its
rules could be read in the sender's own documentation or code. Anything else: \`hmac({...})\`, or
[a file of its own](adding-a-provider.md).

| key | sender | scheme | option | id signed | retries for | rules |
|---|---|---|---|---|---|---|
${rows.join('\n')}

## Events that cannot be told apart

Some deliveries carry neither an id nor a time. Where two different events can be equal in everything that was sent, the
second is taken for a redelivery ("merged"). Where a redelivery cannot be told from another event, it is handled again
("repeated"): a handler for it must bear being called twice.

| key | delivery | what happens | why |
|---|---|---|---|
${(await admissions(catalogue)).join('\n')}
`
}

/** What the kinds of each provider admit, as rows. @param {object} catalogue */
async function admissions(catalogue) {
  /** @type {Record<string, import('hookonce/testing').Kinds>} */
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
