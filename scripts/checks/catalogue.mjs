/** docs/providers.md lists the catalogue. `node scripts/checks/catalogue.mjs --write` writes it. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createJiti } from 'jiti'
import { files, read, root } from './run.mjs'

export const catalogueDocument = {
  name: 'providers',
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
    return `| \`${factory.key}\` | [${definition.name}](${definition.docs}) | ${source.scheme.kind} | ${factory.credentials.map((name) => `\`${name}\``).join(', ')} | ${bodySigned(source.scheme)} | ${source.idIsSigned ? 'yes' : source.contentGuard === 'accept' ? 'no' : `no, guard: ${source.contentGuard}`} | ${hours(source.retryWindowMs)} | ${definition.confidence} |`
  })
  return `# Providers

${rows.length} senders. The name of a factory is its key: \`import { stripe } from 'hookonce/providers'\`.

- **Body signed**: whether a valid signature proves the body. If it does not, whoever has one delivery can make others.
  "some values": the sender's page lists the values that are signed. "checksum": other bodies have the same one.
- **Id signed**: whether the signature covers the event id. When it does not, somebody could resend a captured delivery
  under a new id. So when the same signed content comes with a new id, hookonce runs your handler and flags the event
  (guard: accept, the default), stores the event as \`ignored: replayed_content\` without running your handler (guard:
  review), or rejects the delivery (guard: reject). Change it with \`contentGuard\`.
- **Retries for**: how long the sender retries, if it documents that.
- **Rules**: "verified" rules come from the sender's own documentation or code. "likely": some rules are taken from third
  parties; test with a real delivery first.

Pages with more about [Stripe](providers/stripe.md), [GitHub](providers/github.md), [Shopify](providers/shopify.md),
[Slack](providers/slack.md) and [Twilio](providers/twilio.md). For any other sender see [any sender](unknown-senders.md), or
[write a provider](adding-a-provider.md).

| key | sender | scheme | option | body signed | id signed | retries for | rules |
|---|---|---|---|---|---|---|---|
${rows.join('\n')}

## Senders with one key for all their customers

These sign for every customer with the same private key, so a valid signature only proves that the delivery was sent to
somebody. hookonce accepts a delivery only if a signed value in it is the one of this option. The keys of all other senders
are yours alone.

| key | option | |
|---|---|---|
${sharedKeys(catalogue).join('\n')}

## Senders whose list can be read

Their API lists what they have sent, so that [reconcile](reconcile.md) can compare the log with it.

| key | list | \`apiKey\` | other options | goes back | does not have | rules |
|---|---|---|---|---|---|---|
${lists(catalogue).join('\n')}

## Senders that disable an endpoint

These stop delivering to an endpoint that fails, and most of them stay off until somebody switches them on. It happens after an outage, or with a
wrong secret. When such a source is [silent](telemetry.md#silent-sources), the alarm says this too. Others may do the same without
saying so. GitHub goes on, but never repeats a failed delivery unasked.

| key | it | to switch it on again | described in |
|---|---|---|---|
${disabling(catalogue).join('\n')}

## Events that cannot be distinguished

Some deliveries carry neither an id nor a time. When two different events can have exactly the same bytes, the second one
counts as a redelivery ("merged"). When a redelivery cannot be distinguished from another event, it is handled again
("repeated"); a handler for such an event must be safe to call twice.

| key | delivery | result | reason |
|---|---|---|---|
${(await indistinctKinds(catalogue)).join('\n')}
`
}

/** @param {import('hookonce').Source['scheme']} scheme */
function bodySigned({ covers }) {
  if (covers.body === 'bytes' || covers.body === 'values') return 'yes'
  if (covers.body === 'checksum') return 'checksum'
  return covers.fields.some((field) => /^(json|form):/.test(field)) ? 'some values' : 'no'
}

/** @param {object} catalogue */
function sharedKeys(catalogue) {
  return Object.values(catalogue).flatMap(({ key, definition }) => {
    const { sharedKey, options } = definition
    if (!sharedKey) return []
    const { namedBy, note } = sharedKey
    return namedBy === null
      ? [`| \`${key}\` | none: nothing in a delivery names its receiver | ${note} |`]
      : [`| \`${key}\` | \`${namedBy}\` | ${options[namedBy].what} |`]
  })
}

/** @param {object} catalogue */
function lists(catalogue) {
  return Object.values(catalogue).flatMap(({ key, definition: { list } }) => {
    if (!list) return []
    const options = Object.entries(list.options ?? {}).map(
      ([name, { what, required }]) => `\`${name}\`${required ? '' : ' (optional)'}: ${what}`,
    )
    const of = list.of === 'deliveries' ? 'deliveries to the endpoint' : 'events of the account'
    return `| \`${key}\` | [${of}](${list.docs}) | ${list.apiKey} | ${options.join('; ')} | ${hours(list.reachMs)} | ${list.lacks} | ${list.confidence} |`
  })
}

/** @param {object} catalogue */
function disabling(catalogue) {
  return Object.values(catalogue).flatMap(({ key, definition: { disables } }) =>
    disables
      ? [
          `| \`${key}\` | ${disables.when} | ${disables.again} | [${disables.confidence === 'verified' ? 'its documents or code' : 'likely: reports of others'}](${disables.docs}) |`,
        ]
      : [],
  )
}

/** A row for each merged or repeated kind of a provider. @param {object} catalogue */
async function indistinctKinds(catalogue) {
  /** @type {Record<string, import('hookonce/testing/contracts').Kinds>} */
  const kinds = {}
  const jiti = createJiti(import.meta.url)
  for (const file of await files('test/providers/kinds', '.ts'))
    Object.assign(kinds, await jiti.import(join(root, file)))
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
