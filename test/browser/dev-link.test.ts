/** The link that `hookonce dev` prints, in a real browser. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Folder, freshFolder } from '../support/cli.js'
import { launch } from './support.js'

let browser: Browser
let folder: Folder
beforeAll(async () => {
  browser = await launch()
  folder = freshFolder()
})
afterAll(async () => {
  await browser.close()
  await folder.remove()
})

test('the link leads to the dashboard, signs in with a cookie, and leaves no token in the address', async () => {
  const dev = folder.start(['dev', '--port', '0'])
  const [, link = ''] = await dev.says(/dashboard +(http:\S+)/)
  const { origin, hash } = new URL(link)
  const context = await browser.newContext()
  context.setDefaultTimeout(45_000)
  const page = await context.newPage()
  const asked: string[] = []
  page.on('request', (request) => void asked.push(request.url()))

  await page.goto(link)
  await page.getByRole('button', { name: 'Account' }).waitFor()
  expect(page.url()).not.toContain('token')
  expect(asked.filter((url) => url.includes(hash.slice('#token='.length)))).toEqual([])
  expect(await context.cookies()).toEqual([
    expect.objectContaining({ name: 'hookonce_session', httpOnly: true, sameSite: 'Strict' }),
  ])

  await page.goto(`${origin}/events`)
  await page.getByText('Nothing has been received yet').waitFor()
  const stranger = await browser.newPage()
  await stranger.goto(`${origin}/events`)
  await stranger.getByRole('button', { name: 'Sign in' }).waitFor()
  await context.close()
})
