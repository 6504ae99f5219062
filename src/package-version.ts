/** Which hookonce this is: for the log, the dashboard and the schema of a store. */
import { readFileSync } from 'node:fs'

/** The scripts of the threads have it in place of this name: they do not know where the package is. */
declare const HOOKONCE_VERSION: string | undefined

/** The version of this package; null when package.json cannot be read, for example in a bundle. */
export function packageVersion(): string | null {
  if (typeof HOOKONCE_VERSION === 'string') return HOOKONCE_VERSION
  try {
    const file = new URL('../package.json', import.meta.url)
    const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
    return name === 'hookonce' ? (version ?? null) : null
  } catch {
    return null
  }
}
