/** The docs site. `npm run docs` builds it into .site; links that lead nowhere fail the build. */
import { defineConfig } from 'vitepress'

const quickStart = [
  ['Express', 'express'],
  ['Fastify', 'fastify'],
  ['Hono', 'hono'],
  ['Next.js', 'next'],
  ['NestJS', 'nestjs'],
  ['Plain Node', 'node'],
  ['Standalone server', 'server'],
  ['Serverless', 'serverless'],
] as const

export const sidebar = [
  {
    text: 'Quick start',
    items: quickStart.map(([text, page]) => ({ text, link: `/quick-start/${page}` })),
  },
  {
    text: 'Guides',
    items: [
      { text: 'Handlers', link: '/handlers' },
      { text: 'Transactions and effects', link: '/transactions' },
      { text: 'With an ORM', link: '/orm' },
      { text: 'Choosing stores and modes', link: '/choosing' },
      { text: 'Order and stale events', link: '/order' },
      { text: 'Retry and replay', link: '/replay' },
      { text: 'Any sender', link: '/unknown-senders' },
      { text: 'Testing handlers', link: '/testing' },
      { text: 'Types of events', link: '/types' },
      { text: 'From a hand-written table', link: '/migrating' },
      { text: 'From Svix, Hookdeck, Convoy', link: '/from-other-receivers' },
      { text: 'Bundlers', link: '/bundlers' },
      { text: 'Forwarding', link: '/forwarding' },
      { text: 'Testing an endpoint', link: '/check' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
    ],
  },
  {
    text: 'Operation',
    items: [
      { text: 'Production checklist', link: '/production-checklist' },
      { text: 'The server', link: '/server' },
      { text: 'Deployment files', link: '/deploy' },
      { text: 'PostgreSQL as you run it', link: '/postgresql' },
      { text: 'Beside the app or apart', link: '/log-placement' },
      { text: 'Many nodes', link: '/many-nodes' },
      { text: 'High availability', link: '/high-availability' },
      { text: 'Backups', link: '/backups' },
      { text: 'Outages', link: '/outages' },
      { text: 'The spool', link: '/spool' },
      { text: 'Redis', link: '/redis' },
      { text: 'Retention, archive, erasure', link: '/retention' },
      { text: 'Metrics, traces, alerts', link: '/telemetry' },
      { text: 'Security', link: '/SECURITY' },
    ],
  },
  {
    text: 'Reference',
    items: [
      { text: 'Options and types', link: '/reference/options' },
      { text: 'Configuration', link: '/configuration' },
      { text: 'The command line', link: '/command-line' },
      { text: 'Commands and options', link: '/reference/cli' },
      { text: 'Dashboard', link: '/dashboard' },
      { text: 'Admin API', link: '/admin-api' },
      { text: 'HTTP API', link: '/reference/http-api' },
      { text: 'Providers', link: '/providers' },
      { text: 'Adding a provider', link: '/adding-a-provider' },
      { text: 'Errors', link: '/errors' },
      { text: 'States of an event', link: '/lifecycle' },
      { text: 'Tables', link: '/reference/schema' },
      { text: 'Glossary', link: '/glossary' },
    ],
  },
  {
    text: 'About',
    items: [
      { text: 'Guarantees', link: '/guarantees' },
      { text: 'Performance', link: '/performance' },
      { text: 'Comparison', link: '/comparison' },
      { text: 'Questions', link: '/faq' },
      { text: 'How it is built', link: '/ARCHITECTURE' },
      { text: 'Verification', link: '/verification' },
      { text: 'Decisions', link: '/decisions/0001-tables' },
      { text: 'Licences', link: '/licences' },
      { text: 'Changes', link: '/CHANGELOG' },
    ],
  },
]

export default defineConfig({
  title: 'hookonce',
  description: 'Receive webhooks once.',
  lang: 'en',
  // README, ARCHITECTURE and the examples are pages too, so that links between all documents work.
  srcDir: '..',
  srcExclude: [
    'node_modules/**',
    'test/**',
    'dist/**',
    '.hookonce/**',
    '.site/**',
    'bench/**',
    'dashboard/**',
  ],
  rewrites: { 'docs/:page(.*)': ':page' },
  cacheDir: '../node_modules/.cache/vitepress',
  outDir: '../.site',
  cleanUrls: true,
  // Source files that pages link to are copied beside the pages.
  ignoreDeadLinks: [/\.(py|sh|ini|cfg|ya?ml|prisma|sql|service)$/, /LICENSE$/, /Dockerfile$/],
  markdown: { config: (markdown) => void markdown.use(codeIsText) },
  themeConfig: {
    nav: [
      { text: 'Quick start', link: '/quick-start/express' },
      { text: 'Guides', link: '/handlers' },
      { text: 'Reference', link: '/reference/options' },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
  },
})

/** Vue would take `{{ ... }}` in inline code of our pages for an expression. */
function codeIsText(markdown: { renderer: { rules: Record<string, unknown> } }): void {
  const rules = markdown.renderer.rules as Record<string, ((...args: unknown[]) => string) | undefined>
  const render = rules.code_inline
  if (!render) return
  rules.code_inline = (...args) => render(...args).replace('<code', '<code v-pre')
}
