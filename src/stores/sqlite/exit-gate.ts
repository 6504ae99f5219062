/**
 * Lets a thread finish its call before the process ends. When `process.exit()` stops a thread inside
 * `@photostructure/sqlite`, the addon throws into a dying isolate and the process aborts with code 134 instead of
 * its own (seen in 7 of 8 runs on Node 20; `node:sqlite` does not). The log would not be harmed, but exit codes
 * matter to those who start us.
 */
const STOP = 0
const BUSY = 1

/** Longest wait at exit. A commit takes milliseconds; a process must not hang for a lock held elsewhere. */
const WAIT_MS = 2_000

/** Shared by the two sides: whether the thread is to stop, and whether it is inside a call. */
export type ExitGate = Int32Array<SharedArrayBuffer>

const gates = new Set<ExitGate>()

/** The event loop's side: a new gate, closed when the process exits. */
export function openGate(): ExitGate {
  const gate: ExitGate = new Int32Array(new SharedArrayBuffer(8))
  // One listener for all stores, or a program with eleven of them would be warned of a leak.
  if (gates.size === 0) process.on('exit', closeAll)
  gates.add(gate)
  return gate
}

/** The thread has ended. */
export function removeGate(gate: ExitGate): void {
  gates.delete(gate)
  if (gates.size === 0) process.off('exit', closeAll)
}

function closeAll(): void {
  for (const gate of gates) Atomics.store(gate, STOP, 1)
  for (const gate of gates) Atomics.wait(gate, BUSY, 1, WAIT_MS)
}

/** The thread's side: runs a call, or, when the process is ending, leaves it undone. Nobody waits for it then. */
export function passGate(gate: ExitGate, call: () => void): void {
  Atomics.store(gate, BUSY, 1)
  try {
    if (Atomics.load(gate, STOP) === 0) call()
  } finally {
    Atomics.store(gate, BUSY, 0)
    Atomics.notify(gate, BUSY)
  }
}
