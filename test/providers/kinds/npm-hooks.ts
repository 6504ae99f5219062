import type { Kinds } from 'hookonce/testing/contracts'

export const npmHooks: Kinds = [
  {
    name: 'a publication',
    body: {
      event: 'package:publish',
      name: 'example-package',
      change: { version: '1.2.3' },
      time: 1476984900000,
    },
    events: ['package:publish'],
    another: { 'json:time': 1476984900001 },
  },
  {
    name: 'a changed dist-tag',
    body: {
      event: 'package:dist-tag',
      name: 'example-package',
      change: { 'dist-tag': 'next' },
      time: 1476984900000,
    },
    events: ['package:dist-tag'],
    another: { 'json:time': 1476984900001 },
  },
]
