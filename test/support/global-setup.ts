/** One PostgreSQL server for the whole run; each test file makes its own database on it. */
import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres.js'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.HOOKONCE_TEST_POSTGRES_URL
  if (given) {
    project.provide('postgresUrl', given)
    return async () => {}
  }
  const server = await startPostgres()
  project.provide('postgresUrl', server.url)
  return () => server.remove()
}
