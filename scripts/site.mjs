/**
 * Builds the docs site into .site: the pages, the source files that they link to, and llms.txt with llms-full.txt, an index
 * and the text of all pages for language models.
 */
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createJiti } from 'jiti'
import { read, root, tool } from './checks/run.mjs'
import { extraPath, installExtras } from './extras.mjs'

/** @typedef {{ text: string, items: { text: string, link: string }[] }} Group */

/** The file of a link in the sidebar. @param {string} link */
const fileOf = (link) => (/^\/[A-Z]/.test(link) ? `${link.slice(1)}.md` : `docs${link}.md`)

/** Builds the site. Returns problems; none when it was built. @returns {Promise<string[]>} */
export async function buildSite() {
  await installExtras('checks')
  const problems = await tool('vitepress', ['build', 'docs'], extraPath('checks', '.bin'))
  if (problems.length > 0) return problems
  const site = join(root, '.site')
  const skipped = /node_modules|generated|\.db/
  for (const folder of ['examples', 'scripts/cluster']) {
    await cp(join(root, folder), join(site, folder), {
      recursive: true,
      filter: (path) => !skipped.test(path.slice(root.length)) && !path.endsWith('.md'),
    })
  }
  const { index, full } = await forModels()
  await writeFile(join(site, 'llms.txt'), index)
  await writeFile(join(site, 'llms-full.txt'), full)
  return []
}

async function forModels() {
  const groups = await sidebarGroups()
  const lines = [
    '# hookonce',
    '',
    '> Receive webhooks once: verify, record each event in a durable unique log, run its handler so that its effect happens once.',
    '',
  ]
  const texts = []
  for (const { text, items } of groups) {
    lines.push(`## ${text}`, '')
    for (const item of items) {
      lines.push(`- [${item.text}](${item.link})`)
      texts.push(await read(fileOf(item.link)))
    }
    lines.push('')
  }
  return { index: lines.join('\n'), full: texts.join('\n\n') }
}

/** The sidebar, read from the configuration of the site. @returns {Promise<Group[]>} */
export async function sidebarGroups() {
  await installExtras('checks')
  const config = join(root, 'docs/.vitepress/config.ts')
  const { sidebar } = /** @type {{ sidebar: Group[] }} */ (await createJiti(import.meta.url).import(config))
  return sidebar
}

if (process.argv[1]?.endsWith('site.mjs')) {
  const problems = await buildSite()
  for (const problem of problems) console.error(problem)
  console.log(
    problems.length === 0
      ? 'The site is in .site; open it with npx --prefix extras/checks vitepress preview docs.'
      : 'The site was not built.',
  )
  process.exitCode = problems.length === 0 ? 0 : 1
}
