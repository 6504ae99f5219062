/** The screens of the navigation, with their keys: `g`, then the letter. */
import type { IconName } from '../ui/icon'

export const screens = [
  { path: '/', name: 'Overview', icon: 'overview', key: 'o', group: 'log' },
  { path: '/events', name: 'Events', icon: 'events', key: 'e', group: 'log' },
  { path: '/dead-letters', name: 'Dead letters', icon: 'dead', key: 'd', group: 'log' },
  { path: '/review', name: 'Review', icon: 'review', key: 'r', group: 'log' },
  { path: '/sources', name: 'Sources', icon: 'sources', key: 's', group: 'setup' },
  { path: '/handlers', name: 'Handlers', icon: 'handlers', key: 'h', group: 'setup' },
  { path: '/destinations', name: 'Destinations', icon: 'destinations', key: 't', group: 'setup' },
  { path: '/workers', name: 'Workers', icon: 'workers', key: 'w', group: 'setup' },
  { path: '/system', name: 'System', icon: 'system', key: 'y', group: 'setup' },
] as const satisfies readonly { readonly icon: IconName; readonly [name: string]: string }[]
