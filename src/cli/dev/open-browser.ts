import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { folder, writePage } from './folder.js'

/** The link signs in, and every user of the machine can read a command line: the browser gets a file with the link. */
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

function hasBrowser(): boolean {
  if (!process.stdout.isTTY || !process.stderr.isTTY || process.env.CI) return false
  const { DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION } = process.env
  if (SSH_CONNECTION) return false
  return process.platform in programs || Boolean(DISPLAY || WAYLAND_DISPLAY)
}
