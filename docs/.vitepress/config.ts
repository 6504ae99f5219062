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

const senders = [
  ['Stripe', 'stripe'],
  ['GitHub', 'github'],
  ['Shopify', 'shopify'],
  ['Slack', 'slack'],
  ['Twilio', 'twilio'],
] as const

export const sidebar = [
  {
    text: 'Start',
    items: [
      { text: 'Introduction', link: '/introduction' },
      ...quickStart.map(([text, page]) => ({ text, link: `/quick-start/${page}` })),
      { text: 'Local development', link: '/local-development' },
    ],
  },
  {
    text: 'Build',
    items: [
      { text: 'Handlers', link: '/handlers' },
      { text: 'Several consumers', link: '/consumers' },
      { text: 'Transactions and effects', link: '/transactions' },
      { text: 'Idempotent by design', link: '/idempotent-by-design' },
      { text: 'Order and stale events', link: '/order' },
      { text: 'Testing', link: '/testing' },
      { text: 'Types', link: '/types' },
      ...senders.map(([text, page]) => ({ text, link: `/providers/${page}` })),
      { text: 'Any sender', link: '/unknown-senders' },
      { text: 'Forwarding', link: '/forwarding' },
      { text: 'Moving to hookonce', link: '/migrating' },
    ],
  },
  {
    text: 'Run',
    items: [
      { text: 'Choosing a store', link: '/choosing' },
      { text: 'PostgreSQL', link: '/postgresql' },
      { text: 'Several nodes, failover, backups', link: '/high-availability' },
      { text: 'Did anything not arrive?', link: '/reconcile' },
      { text: 'Outages and the spool', link: '/outages' },
      { text: 'Redis', link: '/redis' },
      { text: 'Retention, archive, erasure', link: '/retention' },
      { text: 'Security', link: '/SECURITY' },
      { text: 'Dashboard', link: '/dashboard' },
      { text: 'Retry and replay', link: '/replay' },
      { text: 'Metrics, traces, alerts', link: '/telemetry' },
      { text: 'Deploy', link: '/deploy' },
      { text: 'Upgrading', link: '/upgrading' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
    ],
  },
  {
    text: 'Reference',
    items: [
      { text: 'Configuration and options', link: '/reference/options' },
      { text: 'Command line', link: '/reference/cli' },
      { text: 'HTTP API', link: '/reference/http-api' },
      { text: 'Errors', link: '/errors' },
      { text: 'Providers', link: '/providers' },
      { text: 'Writing a provider', link: '/adding-a-provider' },
      { text: 'States of an event', link: '/lifecycle' },
      { text: 'Tables', link: '/reference/schema' },
      { text: 'Guarantees', link: '/guarantees' },
      { text: 'Performance', link: '/performance' },
      { text: 'Comparison', link: '/comparison' },
      { text: 'Changes', link: '/CHANGELOG' },
    ],
  },
]

export default defineConfig({
  title: 'hookonce',
  description: 'Receive webhooks once.',
  lang: 'en',
  // SECURITY, CHANGELOG and the examples are pages too, so that links to them work.
  srcDir: '..',
  srcExclude: [
    'node_modules/**',
    'test/**',
    'dist/**',
    '.hookonce/**',
    '.site/**',
    'bench/**',
    'dashboard/**',
    'extras/**',
    'reports/**',
    'scripts/**',
    // For contributors, who read them in the repository.
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'AGENTS.md',
    'docs/decisions/**',
    'docs/internals/**',
  ],
  rewrites: { 'docs/:page(.*)': ':page' },
  cacheDir: '../node_modules/.cache/vitepress',
  outDir: '../.site',
  cleanUrls: true,
  // Source files that pages link to are copied beside the pages.
  ignoreDeadLinks: [
    /\.(py|sh|ini|cfg|ya?ml|prisma|sql|service)$/,
    /LICENSE$/,
    /Dockerfile$/,
    /\/(SECURITY|CHANGELOG)$/,
  ],
  markdown: { config: (markdown) => void markdown.use(codeIsText) },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/introduction' },
      { text: 'Build', link: '/handlers' },
      { text: 'Run', link: '/choosing' },
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
