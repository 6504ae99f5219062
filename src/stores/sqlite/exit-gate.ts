/**
 * Lets a thread finish its call before the process ends. When `process.exit()` stops a thread inside
 * `@photostructure/sqlite`, the addon throws into a terminating isolate, and the process aborts with code 134 instead of
 * its own exit code (seen in 7 of 8 runs on Node 20, never with `node:sqlite`). The log is not harmed, but supervisors
 * read the exit code.
 */
const STOP = 0
const BUSY = 1

/** A commit takes milliseconds; the process must not hang at exit on a lock of another process. */
const WAIT_MS = 2_000

/** Two flags that the event loop and the thread share: STOP, and BUSY inside a call. */
export type ExitGate = Int32Array<SharedArrayBuffer>

const gates = new Set<ExitGate>()

/** Called on the event loop. The gate closes when the process exits. */
export function openGate(): ExitGate {
  const gate: ExitGate = new Int32Array(new SharedArrayBuffer(8))
  // One listener for all stores: Node warns of a leak from the eleventh listener on.
  if (gates.size === 0) process.on('exit', closeAll)
  gates.add(gate)
  return gate
}

export function removeGate(gate: ExitGate): void {
  gates.delete(gate)
  if (gates.size === 0) process.off('exit', closeAll)
}

function closeAll(): void {
  for (const gate of gates) Atomics.store(gate, STOP, 1)
  for (const gate of gates) Atomics.wait(gate, BUSY, 1, WAIT_MS)
}

/** Called on the thread. Skips the call when the process is ending: no caller is left. */
export function passGate(gate: ExitGate, call: () => void): void {
  Atomics.store(gate, BUSY, 1)
  try {
    if (Atomics.load(gate, STOP) === 0) call()
  } finally {
    Atomics.store(gate, BUSY, 0)
    Atomics.notify(gate, BUSY)
  }
}
