/** Ways to write addresses that must not be reached. */

const addresses4 = [
  ...['127.0.0.1', '127.1.2.3', '127.255.255.254', '0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255'],
  ...[
    '100.64.0.1',
    '100.100.100.200',
    '100.127.255.255',
    '169.254.169.254',
    '169.254.170.2',
    '168.63.129.16',
  ],
  ...['172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.0.1'],
  ...['198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.7', '224.0.0.1', '239.255.255.255'],
  ...['240.0.0.1', '255.255.255.255'],
]

const addresses6 = [
  ...[
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    '0000:0000:0000:0000:0000:0000:0000:0001',
    '::2',
    '100::1',
    '100:0:0:1::1',
  ],
  ...[
    'fc00::1',
    'fd00:ec2::254',
    'fdff:ffff::1',
    'fe80::1',
    'febf::1',
    'fec0::1',
    'feff::1',
    'ff00::1',
    'ff02::1',
  ],
  ...[
    '2001::1',
    '2001:0:7f00:1::',
    '2001:10::1',
    '2001:20::1',
    '2001:1ff:ffff::1',
    '2001:db8::1',
    '2002:7f00:1::',
  ],
  ...[
    '2002:a00:1::1',
    '2002:808:808::1',
    '3fff::1',
    '3fff:fff:ffff::1',
    '4000::1',
    '5f00::1',
    '64:ff9b:1::7f00:1',
  ],
  ...['64:ff9b:1::808:808', '64:ff9b:2::1', 'dead:beef::1', '8000::1', 'e000::1', '1::1', '2620:4f:8000::1'],
]

const digits = (text: string, zero: number) =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))
const circled = (text: string) =>
  text.replace(/\d/g, (digit) =>
    digit === '0' ? '\u24ea' : String.fromCodePoint(0x2460 + Number(digit) - 1),
  )

function spell4(address: string): string[] {
  const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number]
  const all = ((a * 256 + b) * 256 + c) * 256 + d
  const hex = (n: number, width = 0) => n.toString(16).padStart(width, '0')
  const groups = `${hex(a * 256 + b)}:${hex(c * 256 + d)}`
  return [
    ...[
      address,
      `${address}.`,
      `${all}`,
      `0x${hex(all)}`,
      `0X${hex(all).toUpperCase()}`,
      `0${all.toString(8)}`,
    ],
    ...[
      `0x${hex(a)}.0x${hex(b)}.0x${hex(c)}.0x${hex(d)}`,
      [a, b, c, d].map((n) => `0${n.toString(8)}`).join('.'),
    ],
    ...[
      `${a}.${b * 65536 + c * 256 + d}`,
      `${a}.${b}.${c * 256 + d}`,
      `0x${hex(a)}.${b}.0${c.toString(8)}.${d}`,
    ],
    ...[[a, b, c, d].map((n) => `000${n.toString(8)}`).join('.'), `0x0000000${hex(all, 8)}`],
    ...[digits(address, 0xff10), digits(address, 0x1d7ce), circled(address)],
    ...[address.replaceAll('.', '\u3002'), address.replaceAll('.', '\uff0e'), address.replaceAll('.', '%2e')],
    ...[address.replace(/\d/, (digit) => `%3${digit}`), `\u00ad${address}`],
    ...[
      `[::ffff:${address}]`,
      `[::ffff:${groups}]`,
      `[0:0:0:0:0:FFFF:${groups}]`,
      `[::${address}]`,
      `[::${groups}]`,
    ],
    ...[
      `[64:ff9b::${address}]`,
      `[64:ff9b::${groups}]`,
      `[0064:ff9b:0:0:0:0:${groups}]`,
      `[64:ff9b:1::${address}]`,
    ],
    ...[`[2002:${groups}::]`, `[2002:${groups}::1]`, `[::ffff:0:${address}]`, `[2001:0:${groups}::1]`],
  ]
}

/** Hosts, as they stand in a URL. */
export const hosts: readonly string[] = [
  ...addresses4.flatMap(spell4),
  ...addresses6.map((address) => `[${address}]`),
  ...addresses6.map((address) => `[${address.toUpperCase()}]`),
  ...[
    '[fe80::1%25eth0]',
    '[fe80::1%eth0]',
    '[::1%25lo]',
    '[::1%lo]',
    '[::1',
    '::1',
    '[127.0.0.1]',
    '[v1.fe80::a]',
  ],
  ...['0', '0x0', '00', '127.1', '127.0.1', '0x7f.1', '0177.1', '017700000001', '127.000.000.001'],
]

/** Whole URLs with a trick in them. */
export const urls = (port: number): readonly string[] => [
  `http://example.com@127.0.0.1:${port}/`,
  `http://example.com:80@127.0.0.1:${port}/`,
  `http://127.0.0.1:${port}\\@example.com/`,
  `http://127.0.0.1:${port}#@example.com/`,
  `http://127.0.0.1:${port}?@example.com/`,
  `http:\\\\127.0.0.1:${port}/`,
  `http:/127.0.0.1:${port}/`,
  `http:127.0.0.1:${port}/`,
  `  http://127.0.0.1:${port}/  `,
  `ht\ntp://127.0.\t0.1:${port}/`,
  `HTTP://127.0.0.1:${port}/`,
  `http://user:pass@[::1]:${port}/`,
  `//127.0.0.1:${port}/`,
  `file:///etc/passwd`,
  `gopher://127.0.0.1:${port}/_x`,
  `ftp://127.0.0.1:${port}/`,
  `data:text/plain,hello`,
  `ws://127.0.0.1:${port}/`,
  `unix:/var/run/docker.sock`,
  `http://unix:/var/run/docker.sock:/x`,
]

/** Names and what a resolver says about them. */
export const names: Readonly<Record<string, readonly string[]>> = {
  localhost: ['127.0.0.1', '::1'],
  LOCALHOST: ['127.0.0.1'],
  'localhost.': ['127.0.0.1'],
  '127.0.0.1..': ['127.0.0.1'],
  'localtest.me': ['127.0.0.1'],
  '127.0.0.1.nip.io': ['127.0.0.1'],
  'metadata.google.internal': ['169.254.169.254'],
  'instance-data.ec2.internal': ['169.254.169.254'],
  'mixed.example': ['93.184.216.34', '10.0.0.1'],
  'mixed6.example': ['2606:4700::1111', 'fe80::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'nat64.example': ['64:ff9b::a9fe:a9fe'],
  'sixtofour.example': ['2002:7f00:1::'],
  'zone.example': ['fe80::1%lo'],
  'text.example': ['not an address'],
  'octal.example': ['0177.0.0.1'],
  'empty.example': [],
}
