/** A long run that ends everything it has started, also after a failure or Ctrl-C. */
const closing: (() => unknown)[] = []
let ending: Promise<void> | undefined

/** What is named last is ended first. */
export function atEnd(close: () => unknown): void {
  closing.push(close)
}

/** The exit code is 0 when `main` returns true. */
export async function longRun(main: () => Promise<boolean>): Promise<never> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => void end().then(() => process.exit(130)))
  let passed = false
  try {
    passed = await main()
  } catch (error) {
    // After a signal everything that `main` waits for fails.
    if (ending === undefined) console.error(error)
  } finally {
    await end()
  }
  process.exit(passed ? 0 : 1)
}

function end(): Promise<void> {
  ending ??= (async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })()
  return ending
}
