import { readFile } from 'node:fs/promises'
import { metrics } from 'hookonce/telemetry'
import { expect, test } from 'vitest'

test('docs/telemetry.md has a row for every metric, and no other', async () => {
  const text = await readFile(new URL('../../docs/telemetry.md', import.meta.url), 'utf8')
  const rows = text.split('\n').filter((line) => line.startsWith('| `hookonce_'))
  expect(rows).toEqual(
    Object.values(metrics).map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help} |`),
  )
})
