/**
 * Optional packages, and parts of this package that need one, are loaded where they are used. Their names are not written
 * at the import: a bundler would refuse to build an application that has not installed a package it never uses.
 */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { HookonceError } from './errors.js'

export async function importPart<T>(part: `hookonce/${string}`): Promise<T> {
  try {
    return await importAtRunTime<T>(part)
  } catch (error) {
    // The bundle was moved away from node_modules.
    if (isMissing(error, 'hookonce')) throw new HookonceError('NOT_IN_BUNDLE', { part }, error)
    throw error
  }
}

/** Throws DRIVER_MISSING when the package is not installed. */
export async function importOptional<T>(name: string): Promise<T> {
  try {
    return await importAtRunTime<T>(name)
  } catch (error) {
    throw isMissing(error, name) ? new HookonceError('DRIVER_MISSING', { driver: name }, error) : error
  }
}

/** Only for CommonJS packages. Throws when the package is not installed. */
export function requireOptional<T>(name: string): T {
  // A bundle of the format CommonJS has no address.
  const here: string | undefined = import.meta.url
  // `npx hookonce` runs outside of the project that the user installs packages in. `hookonce dev` may have installed it.
  const project = [`${process.cwd()}/`, `${process.cwd()}/.hookonce/`].map((path) => pathToFileURL(path).href)
  let problem: unknown
  for (const place of here === undefined ? project : [here, ...project]) {
    try {
      return createRequire(place)(name) as T
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
      problem ??= error
    }
  }
  throw problem
}

/** False when the package was found but one that it imports was not. */
export function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`)
}

function importAtRunTime<T>(name: string): Promise<T> {
  return import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name)
}
