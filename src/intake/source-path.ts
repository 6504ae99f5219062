/**
 * The whole path must match, from its start: a path that contains the path of another source must not reach that source
 * past a rule of a proxy.
 */

export const DEFAULT_PATH = '/webhooks/:source'

/** Null when the path names no source. */
export function sourceInPath(path: string, pattern: string = DEFAULT_PATH): string | null {
  const [before = '', after = ''] = pattern.split(':source')
  const own = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
  if (!own.startsWith(before) || !own.endsWith(after)) return null
  const name = own.slice(before.length, own.length - after.length)
  return name === '' || /[/?#]/.test(name) ? null : name
}

/**
 * For a mount point of Express or Connect: `/webhooks/:source`, or `/:source` when the mount point ends with `/webhooks`.
 * `path` is the whole path, `below` its rest behind the mount point.
 */
export function sourceBelowMount(path: string, below: string, pattern: string = DEFAULT_PATH): string | null {
  const mount = path.endsWith(below) ? path.slice(0, path.length - below.length) : ''
  const [before = ''] = pattern.split(':source')
  return `${mount}/`.endsWith(before) ? sourceInPath(below, '/:source') : sourceInPath(below, pattern)
}
