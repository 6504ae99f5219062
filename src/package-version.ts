/** Which hookonce this is: for the log, the dashboard and the schema of a store. */
import { readFileSync } from 'node:fs'

/** The version of this package; null when package.json cannot be read, for example in a bundle. */
export function packageVersion(): string | null {
  try {
    const file = new URL('../package.json', import.meta.url)
    const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
    return name === 'hookonce' ? (version ?? null) : null
  } catch {
    return null
  }
}
