/** Prints `N passed, N failed` from a report of vitest, on a line of its own; fails when a test failed or no test ran. */
import { readFile } from 'node:fs/promises'

/** @typedef {{ numPassedTests: number, numFailedTests: number, success: boolean, testResults: { status: string, assertionResults: { status: string }[] }[] }} Report */

const text = await readFile(process.argv[2] ?? '', 'utf8').catch(() => null)
/** @type {Report | null} */
const report = text === null ? null : JSON.parse(text)
// A file that cannot be loaded reports no failed test; it counts as one failure.
const broken = (report?.testResults ?? []).filter(
  (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
)
const passed = report?.numPassedTests ?? 0
const failed = (report?.numFailedTests ?? 0) + broken.length
if (report === null) console.error('The tests did not get as far as a report.')
else if (passed + failed === 0) console.error('No test ran.')
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = report?.success && passed > 0 && failed === 0 ? 0 : 1
