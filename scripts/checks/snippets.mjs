/**
 * Code in documents compiles against the built package. Each `ts` block is a module of its own; what it takes for
 * granted is declared in a comment before it:
 *
 *     <!-- given: declare const pool: import('pg').Pool -->
 *
 * The imports `../name.js` and `./name.js` are those of a file in src/providers, `../../name.js` those of a file in a folder of it. A
 * fence of `ts` with more words after it is left alone.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { installExtras } from '../extras.mjs'
import { documents, read, root, tool } from './run.mjs'

const folder = '.hookonce/snippets'

export const snippets = {
  name: 'snippets',
  async run() {
    await installExtras('apps')
    await rm(join(root, folder), { recursive: true, force: true })
    await mkdir(join(root, folder), { recursive: true })
    let count = 0
    for (const path of await documents()) {
      for (const { line, code } of blocks(await read(path))) {
        count++
        const name = `${path.replaceAll('/', '-').replace(/\.md$/, '')}-line-${line}.ts`
        await writeFile(join(root, folder, name), code)
      }
    }
    if (count === 0) return []
    const config = {
      extends: '../../tsconfig.json',
      compilerOptions: { noUnusedLocals: false, noUnusedParameters: false, allowJs: false, checkJs: false },
      include: ['*.ts'],
    }
    await writeFile(join(root, folder, 'tsconfig.json'), JSON.stringify(config))
    const problems = await tool('tsc', ['--noEmit', '-p', folder])
    if (problems.length === 0) await rm(join(root, folder), { recursive: true, force: true })
    return problems
  },
}

/** @param {string} text */
function blocks(text) {
  /** @type {{ line: number, code: string }[]} */
  const found = []
  const pattern = /((?:^<!-- given: .* -->\n+)*)^```ts\n([\s\S]*?)^```/gm
  for (const match of text.matchAll(pattern)) {
    const [, given = '', code = ''] = match
    const declared = [...given.matchAll(/<!-- given: (.*) -->/g)].map(([, text]) => text)
    const line = text.slice(0, match.index).split('\n').length
    const body = code
      .replaceAll(/from '(\.\.\/)+/g, "from '#dist/")
      .replaceAll(/from '\.\//g, "from '#dist/providers/")
    found.push({ line, code: `${declared.join('\n')}\n${body}\nexport {}\n` })
  }
  return found
}
