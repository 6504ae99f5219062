/** Opens the dashboard in the browser of this user, when there is one. */
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { folder, writePage } from './folder.js'

/**
 * Opens a page in `.hookonce/` that leads to the link. Every user of the machine can read a command line, so the link,
 * which signs in, is not passed on one.
 */
export function openBrowser(link: string): void {
  const program = programs[process.platform] ?? ['xdg-open']
  if (!hasBrowser()) return
  writePage(`<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${link}">\n`)
  const [command, ...args] = program
  const child = spawn(command!, [...args, resolve(folder, 'dashboard.html')], {
    stdio: 'ignore',
    detached: true,
  })
  child.on('error', () => {}) // the link is printed as well
  child.unref()
}

const programs: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Somebody is at the terminal, and there is a display. */
function hasBrowser(): boolean {
  if (!process.stdout.isTTY || !process.stderr.isTTY || process.env.CI) return false
  const { DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION } = process.env
  if (SSH_CONNECTION) return false
  return process.platform in programs || Boolean(DISPLAY || WAYLAND_DISPLAY)
}
