/** Tells when the configuration, or a file it imports, has changed. A broken one is told too, and changes nothing. */
import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type LoadedConfig, type LoadOptions, loadConfig } from './load.js'

export interface WatchOptions extends Omit<LoadOptions, 'path'> {
  /** Gets each new configuration that could be loaded and is valid. What it throws goes to `onProblem`. */
  readonly onChange: (loaded: LoadedConfig) => void | Promise<void>
  /** The file cannot be used as it is now; what runs goes on as before. */
  readonly onProblem: (error: unknown) => void
  /** Editors write a file in several steps. Default 100. */
  readonly quietMs?: number
}

export interface ConfigWatch {
  close(): void
}

export function watchConfig(
  loaded: LoadedConfig & { readonly path: string },
  options: WatchOptions,
): ConfigWatch {
  const { quietMs = 100, onChange, onProblem, ...load } = options
  const watchers = new Map<string, FSWatcher>()
  let files = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let reloading: Promise<void> = Promise.resolve()
  let closed = false

  /** Folders and not files: an editor that replaces a file would leave us with the old one. */
  function follow(paths: readonly string[]): void {
    files = new Set(paths)
    const folders = new Set(paths.map((path) => dirname(path)))
    for (const [folder, watcher] of watchers) {
      if (folders.has(folder)) continue
      watcher.close()
      watchers.delete(folder)
    }
    for (const folder of folders) {
      if (watchers.has(folder)) continue
      const watcher = watch(folder, (_event, name) => {
        // Some systems do not say which file it was.
        if (name === null || [...files].some((path) => dirname(path) === folder && basename(path) === name))
          changed()
      })
      watcher.on('error', onProblem)
      watchers.set(folder, watcher)
    }
  }

  function changed(): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      reloading = reloading.then(reload)
    }, quietMs)
  }

  async function reload(): Promise<void> {
    if (closed) return
    try {
      const next = await loadConfig({ ...load, path: loaded.path })
      follow(next.files)
      await onChange(next)
    } catch (error) {
      onProblem(error)
    }
  }

  follow(loaded.files)
  return {
    close() {
      closed = true
      clearTimeout(timer)
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}
