/** One browser for a file, pages that fail on a violation of the policy, and the servers behind them. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Child, startChild } from '../support/child.js'
import { freePort } from '../support/free-port.js'
import { postgresLog, type SharedLog, sqliteLog } from '../support/logs.js'

export type StoreKind = 'SQLite' | 'PostgreSQL'

const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

export function launch(): Promise<Browser> {
  const executablePath = process.env.HOOKONCE_TEST_CHROMIUM ?? programs.find((path) => existsSync(path))
  if (executablePath === undefined)
    throw new Error('Chromium is not installed: run node scripts/services.mjs')
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-extensions'],
  })
}

export interface Site {
  readonly url: string
  readonly log: SharedLog
  post(event: object | string | Uint8Array, source?: string): Promise<void>
  /** Asks the API as the admin, until the answer is as wanted. */
  until<T>(path: string, isWanted: (answer: T) => boolean): Promise<T>
  /** kill -9, and the same server again on the same port. */
  restart(whileDown?: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

const roles = ['viewer', 'operator', 'admin'] as const
export const tokenOf = (role: (typeof roles)[number]): string => `token-of-the-${role}`
const tokens = roles.map((role) => ({
  name: `the-${role}`,
  role,
  sha256: createHash('sha256').update(tokenOf(role)).digest('hex'),
}))

export async function startSite(
  kind: StoreKind,
  options: { mount?: string; compared?: boolean } = {},
): Promise<Site> {
  const log = kind === 'SQLite' ? await sqliteLog() : await postgresLog()
  const start = async (port?: number): Promise<[Child, string]> => {
    const told = JSON.stringify({ tokens, ...options, ...(port && { port }) })
    const started = startChild('./dashboard-child.mjs', [told, ...log.args])
    await started.said(1)
    return [started, started.lines[0]!]
  }
  // A restart needs it again, so nobody else may get it meanwhile.
  let [child, url] = await start(await freePort())
  async function until<T>(path: string, isWanted: (answer: T) => boolean): Promise<T> {
    for (const deadline = Date.now() + 60_000; ; ) {
      const response = await fetch(`${url}${options.mount ?? ''}${path}`, {
        headers: { authorization: `Bearer ${tokenOf('admin')}` },
      })
      const answer = (await response.json()) as T
      if (isWanted(answer)) return answer
      if (Date.now() > deadline)
        throw new Error(`${path} still answers ${JSON.stringify(answer).slice(0, 500)}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  return {
    url,
    log,
    until,
    async post(event, source = 'shop') {
      const body =
        typeof event === 'string' || event instanceof Uint8Array
          ? event
          : JSON.stringify({ type: 'order.paid', ...event })
      const response = await fetch(`${url}/webhooks/${source}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      expect(response.status, await response.text()).toBe(200)
    },
    async restart(whileDown = async () => {}) {
      await child.kill()
      await whileDown()
      ;[child] = await start(Number(new URL(url).port))
    },
    async stop() {
      await child.kill()
      await log.remove()
    },
  }
}

/** A page whose errors, failed policies and outside requests are collected. */
export interface Watched {
  readonly page: Page
  readonly problems: string[]
  close(): Promise<void>
}

/** Generous: the machine may be busy. A step that passes takes a fraction of it. */
const STEP_MS = 45_000

export async function openPage(
  browser: Browser,
  site: Site,
  path: string,
  { role = 'admin', ...options }: BrowserContextOptions & { role?: (typeof roles)[number] | null } = {},
): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  context.setDefaultTimeout(STEP_MS)
  if (role !== null) {
    const signedIn = await context.request.post(`${site.url}${mountOf(path)}/api/sessions`, {
      data: { token: tokenOf(role) },
      headers: { origin: site.url },
    })
    expect(signedIn.status()).toBe(201)
  }
  const page = await context.newPage()
  const problems: string[] = []
  await page.addInitScript(`document.addEventListener('securitypolicyviolation', (event) => {
    console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sourceFile)
  })`)
  page.on('console', (message) => {
    if (message.text().startsWith('policy:') || message.text().includes('Content Security Policy'))
      problems.push(message.text())
  })
  page.on('pageerror', (error) => void problems.push(`error: ${error.message}`))
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(site.url) && !/^(blob|data):/.test(url)) problems.push(`outside: ${url}`)
  })
  await page.goto(`${site.url}${path}`)
  return { page, problems, close: () => context.close() }
}

function mountOf(path: string): string {
  return path.startsWith('/ops/hooks') ? '/ops/hooks' : ''
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The serious and critical ones. */
export async function violations(page: Page): Promise<string[]> {
  // Through the protocol, not as a script element: the policy of the page refuses those.
  await page.evaluate(axe)
  const found = await page.evaluate(async () => {
    const run = (globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }).axe
    interface Violation {
      id: string
      impact: string
      nodes: { html: string }[]
    }
    return (await run.run()).violations.map(
      ({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html.slice(0, 200)}`,
    )
  })
  return found.filter((text) => /^(serious|critical) /.test(text))
}
