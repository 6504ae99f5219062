/** The docs site builds without a dead link, and its sidebar leads to every page of docs. */
import { buildSite, sidebarGroups } from '../site.mjs'
import { files } from './run.mjs'

export const site = {
  name: 'docs site',
  async run() {
    const linked = (await sidebarGroups()).flatMap(({ items }) => items.map(({ link }) => `docs${link}.md`))
    const pages = (await files('docs', '.md')).filter((path) => !/^docs\/(decisions\/|index\.md)/.test(path))
    const missing = pages.filter((path) => !linked.includes(path))
    return [
      ...missing.map((path) => `${path} is not in the sidebar of docs/.vitepress/config.ts`),
      ...(await buildSite()),
    ]
  },
}
