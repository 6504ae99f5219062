/** Line icons of 16 pixels. They are decoration: the text beside them, or the label of the button, says the same. */
const shapes = {
  overview: 'M2 13V8m4 5V4m4 9V6m4 7V2',
  events: 'M2 4h12M2 8h12M2 12h8',
  dead: 'M8 2 15 14H1Zm0 5v3m0 2v.01',
  review: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8Zm8.5 0a2 2 0 1 1-4 0 2 2 0 0 1 4 0',
  sources: 'M8 1.5v7m0 0 3-3m-3 3-3-3M2 9.5V14h12V9.5',
  handlers: 'M5 3 2 8l3 5m6-10 3 5-3 5M9 3 7 13',
  destinations: 'M2 8h11m0 0L9 4m4 4-4 4',
  workers: 'M3 3h10v10H3Zm3 3h4v4H6ZM6 1v2m4-2v2M6 13v2m4-2v2M1 6h2m-2 4h2m10-4h2m-2 4h2',
  system: 'M2 3h12v4H2Zm0 6h12v4H2Zm2.5-4h.01m-.01 6h.01',
  search: 'M11 7a4 4 0 1 1-8 0 4 4 0 0 1 8 0Zm3 7-4-4',
  copy: 'M5.5 5.5V2.5h8v8h-3M2.5 5.5h8v8h-8Z',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  close: 'm4 4 8 8m0-8-8 8',
  menu: 'M2 4h12M2 8h12M2 12h12',
  clock: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0ZM8 4.5V8l2.5 1.5',
  theme: 'M8 2v12a6 6 0 0 0 0-12Zm6 6A6 6 0 1 1 2 8a6 6 0 0 1 12 0Z',
  user: 'M10.5 5a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0ZM3 14c0-3 2-4.5 5-4.5s5 1.5 5 4.5',
  help: 'M6 6a2 2 0 1 1 2.7 1.900c-.5.2-.7.5-.7 1.1v.5m0 2.5v.01M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0Z',
  retry: 'M13.5 8A5.5 5.5 0 1 1 11.700 4l2 1.800m0-3.8v3.8H10',
  play: 'M4.5 2.5v11l9-5.5Z',
  pause: 'M5 3v10m6-10v10',
  ban: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0ZM3.8 3.8l8.400 8.400',
  download: 'M8 2v8m0 0 3-3m-3 3L5 7M2.5 13.5h11',
  edit: 'M10.5 3 13 5.5 5.5 13H3v-2.5Z',
  bookmark: 'M4 2.5h8v11l-4-3-4 3Z',
  out: 'M6 2.5H2.5v11H6M6.5 8H14m0 0-3-3m3 3-3 3',
} as const

export type IconName = keyof typeof shapes

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={shapes[name]} />
    </svg>
  )
}
