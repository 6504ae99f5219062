/**
 * The pages of docs/reference are generated from the code, so that no option, flag, route or table is missing or left
 * over. `npm run docs:reference` writes them.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cliPage } from '../reference/cli.mjs'
import { httpPage } from '../reference/http.mjs'
import { schemaPage } from '../reference/schema.mjs'
import { optionsPage } from '../reference/types.mjs'
import { read, root } from './run.mjs'

const pages = {
  'docs/reference/options.md': optionsPage,
  'docs/reference/cli.md': cliPage,
  'docs/reference/http-api.md': httpPage,
  'docs/reference/schema.md': schemaPage,
}

export const reference = {
  name: 'reference',
  async run() {
    const problems = []
    for (const [path, page] of Object.entries(pages)) {
      if ((await read(path).catch(() => '')) !== (await page()))
        problems.push(`${path} differs from the code; run npm run docs:reference`)
    }
    return problems
  },
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, page] of Object.entries(pages)) await writeFile(join(root, path), await page())
}
