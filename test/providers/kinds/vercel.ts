import type { Kinds } from 'hookonce/testing/contracts'

export const vercel: Kinds = [
  {
    name: 'a deployment that succeeded',
    body: {
      id: 'evt_1',
      type: 'deployment.succeeded',
      createdAt: 1637861414000,
      region: 'sfo1',
      payload: {
        deployment: { id: 'dpl_FdDw2mQcaf5Pp8s' },
        project: { id: 'prj_12HKQaOmR5t5Uy6vdcQsNIiZgHGB' },
      },
    },
    events: ['deployment.succeeded'],
    another: { 'json:id': 'evt_2' },
  },
  {
    name: 'an integration whose configuration was removed',
    body: {
      id: 'evt_3',
      type: 'integration-configuration.removed',
      createdAt: 1637861414000,
      payload: { configuration: { id: 'icfg_1', projects: [] }, team: { id: 'team_1' } },
    },
    events: ['integration-configuration.removed'],
    another: { 'json:id': 'evt_4' },
  },
]
