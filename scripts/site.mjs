/**
 * Builds the docs site into .site: the pages, the source files that they link to, and for language models llms.txt (an index),
 * llms-full.txt (all pages) and each page as Markdown.
 */
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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
  await writeForModels(site)
  return []
}

/** @param {string} site */
async function writeForModels(site) {
  const lines = [
    '# hookonce',
    '',
    '> A TypeScript library and server that receives webhooks once: it verifies the sender, records each event under a unique key in SQLite or PostgreSQL, answers after the commit, and runs your handler so that its rows commit together with the outcome.',
  ]
  const texts = []
  let group = ''
  for (const page of await sidebarPages()) {
    if (page.group !== group) lines.push('', `## ${page.group}`, '')
    group = page.group
    const text = await read(page.file)
    lines.push(`- [${page.text}](${page.link}.md): ${firstSentence(text)}`)
    texts.push(text)
    await mkdir(dirname(join(site, page.link)), { recursive: true })
    await writeFile(join(site, `${page.link}.md`), text)
  }
  await writeFile(join(site, 'llms.txt'), `${lines.join('\n')}\n`)
  await writeFile(join(site, 'llms-full.txt'), texts.join('\n\n'))
}

/** What a page is about, on one line. @param {string} text */
function firstSentence(text) {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '')
  const paragraph = prose.split('\n\n').find((part) => /^[a-z`[*\d]/i.test(part)) ?? ''
  const line = paragraph.replaceAll('\n', ' ').replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
  return (/^.*?\.(?= |$)/.exec(line)?.[0] ?? line).replace(/:$/, '.')
}

/** Every page of the sidebar. @returns {Promise<{ group: string, text: string, link: string, file: string }[]>} */
export async function sidebarPages() {
  const groups = await sidebarGroups()
  return groups.flatMap((group) =>
    group.items.map((item) => ({ group: group.text, ...item, file: fileOf(item.link) })),
  )
}

/** The sidebar, read from the configuration of the site. @returns {Promise<Group[]>} */
async function sidebarGroups() {
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
