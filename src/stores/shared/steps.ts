/**
 * An algorithm that both stores share yields its calls to the database and gets their results. The calls of SQLite block,
 * those of PostgreSQL are awaited.
 */
export type Steps<T> = Generator<() => unknown, T, unknown>

/** One call: `const rows = yield* step(() => log.find())`. */
export function* step<T>(call: () => T | Promise<T>): Steps<T> {
  return (yield call) as T
}

export function runBlocking<T>(steps: Steps<T>): T {
  let next = steps.next()
  while (!next.done) next = steps.next(next.value())
  return next.value
}

export async function runAwaiting<T>(steps: Steps<T>): Promise<T> {
  let next = steps.next()
  while (!next.done) next = steps.next(await next.value())
  return next.value
}
