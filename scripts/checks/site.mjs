/** The docs site builds without a dead link; its sidebar and docs/introduction.md lead to every page of docs. */
import { buildSite, sidebarPages } from '../site.mjs'
import { files, read } from './run.mjs'

/** For contributors, who read them in the repository, and the home page. */
const outside = /^docs\/(decisions\/|internals\/|index\.md)/

export const site = {
  name: 'site',
  async run() {
    const linked = (await sidebarPages()).map(({ file }) => file)
    const introduction = await read('docs/introduction.md')
    const pages = (await files('docs', '.md')).filter((path) => !outside.test(path))
    return [
      ...pages
        .filter((path) => !linked.includes(path))
        .map((path) => `${path} is not in the sidebar of docs/.vitepress/config.ts`),
      ...linked
        .map((path) => (path.startsWith('docs/') ? path.slice('docs/'.length) : `../${path}`))
        .filter((path) => path !== 'introduction.md' && !introduction.includes(`](${path})`))
        .map((path) => `docs/introduction.md has no link to ${path}`),
      ...(await buildSite()),
    ]
  },
}
