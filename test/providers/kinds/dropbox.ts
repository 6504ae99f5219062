import type { Kinds } from 'hookonce/testing/contracts'

export const dropbox: Kinds = [
  {
    name: 'accounts with changes',
    body: {
      list_folder: { accounts: ['dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc'] },
      delta: { users: [12345678] },
    },
    events: ['list_folder'],
    another: {},
    repeated:
      'The body has only the ids of accounts. Two changes of an account have the same bytes, so every delivery is a new event.',
  },
  {
    name: 'teams with changes',
    docs: 'https://developers.dropbox.com/dbx-team-files-guide',
    body: { list_folder: { teams: { 'dbtid:AAA': ['dbid:BBB'] } } },
    another: {},
    repeated:
      'The body has only the ids of teams and members. Two changes have the same bytes, so every delivery is a new event.',
  },
  {
    name: 'the verification of the endpoint',
    method: 'GET',
    query: { challenge: 'abc123' },
    handshake: 'unsigned',
  },
]
