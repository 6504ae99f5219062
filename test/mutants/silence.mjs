/** Broken builds that stay silent about a source, or cry wolf. */
const alarms = 'test/silence/alarms.test.ts'

/** @type {import('./mutant.mjs').Mutant[]} */
export const silenceMutants = [
  {
    name: 'silence while nothing runs',
    promise: 'Hours in which no process was running are not reported as silence of the sender.',
    changes: [
      {
        file: 'src/silence/health.ts',
        find: 'awake.has(hour) || (hour + 1) * HOUR_MS > now',
        replace: 'awake.has(hour) || hour >= 0',
      },
    ],
    tests: [{ file: alarms, title: 'hours in which no process was running are not silence' }],
  },
  {
    name: 'clock change taken for silence',
    promise: 'A change of the clocks does not report a source.',
    changes: [
      {
        file: 'src/silence/rhythm.ts',
        find: 'isEdge ? quietest(usual, hour)',
        replace: 'isEdge ? at(usual, hour)',
      },
    ],
    tests: [
      { file: 'test/silence/rhythm.test.ts', title: ': reported as documented, and seldom without a cause' },
    ],
  },
  {
    name: 'strangers are a changed secret',
    promise: 'Deliveries of strangers to a source that is asleep are no alarm.',
    changes: [
      {
        file: 'src/silence/rejections.ts',
        find: '>= 3 * Math.max(1, rhythm.together)',
        replace: '>= 0',
      },
    ],
    tests: [{ file: alarms, title: 'strangers who post to a source that is asleep are no alarm' }],
  },
  {
    name: 'each process tells',
    promise: 'One process of a log tells what all of them find.',
    changes: [
      {
        file: 'src/once.ts',
        find: "return taken.state === 'finished' ? 'known' : 'busy'",
        replace: "return await work(), 'done'",
      },
    ],
    tests: [
      { file: alarms, title: 'one process of a log logs an alarm, and its end' },
      { file: alarms, title: 'one process of a log sends the notices of what all of them find' },
    ],
  },
]
