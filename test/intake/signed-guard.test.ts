/** The guard compares what the sender signed, which for some senders is not the body. */
import { createInbox } from 'hookonce'
import { dropbox, dropboxSign, github, mailgun, monday } from 'hookonce/providers'
import { expect, test } from 'vitest'
import { onBothStores, secretOf } from '../support/inboxes.js'

onBothStores((stores) => {
  const secret = secretOf('signed-guard')
  const open = () => {
    const sources = {
      mailgun: mailgun({ secret }),
      monday: monday({ secret }),
      dropboxSign: dropboxSign({ secret }),
      github: github({ secret }),
      dropbox: dropbox({ secret }),
    }
    const inbox = createInbox({ store: stores.open(), sources })
    const handled: string[] = []
    for (const name of Object.keys(sources) as (keyof typeof sources)[])
      inbox.on(name, '*', (event) => void handled.push(event.id))
    return { inbox, sources, handled }
  }
  const edit = (body: Uint8Array, change: (document: Record<string, Record<string, unknown>>) => void) => {
    const document = JSON.parse(Buffer.from(body).toString())
    change(document)
    return Buffer.from(JSON.stringify(document))
  }

  test('one Mailgun signature with three invented bodies makes one event to handle', async () => {
    const { inbox, sources, handled } = open()
    const eightHoursAgo = Date.now() - 8 * 3_600_000
    const genuine = await sources.mailgun.sign(sources.mailgun.sample({ now: eightHoursAgo, id: 'genuine' }))
    expect((await inbox.receive('mailgun', genuine)).status).toBe('accepted')
    for (const id of ['forged-1', 'forged-2', 'forged-3']) {
      const body = edit(genuine.body, (document) => {
        document['event-data']!.id = id
        document['event-data']!.recipient = `${id}@example.com`
      })
      await inbox.receive('mailgun', { ...genuine, body })
    }
    await inbox.drain()
    expect(handled).toEqual(['genuine'])
    const withheld = await inbox.events.list({ source: 'mailgun', state: 'ignored' })
    expect(withheld.events.map(({ id }) => id).sort()).toEqual(['forged-1', 'forged-2', 'forged-3'])
    // A retry, by its id, is a duplicate however it was signed.
    expect((await inbox.receive('mailgun', genuine)).duplicate).toBe(true)
    await inbox.stop()
  })

  test('a monday token or a Dropbox Sign hash that comes with another body is handled and flagged', async () => {
    const { inbox, sources } = open()
    const first = await sources.monday.sign(sources.monday.sample({ now: Date.now(), id: 't1' }))
    const other = edit(first.body, (document) => {
      document.event!.triggerUuid = 't2'
    })
    await inbox.receive('monday', first)
    await inbox.receive('monday', { ...first, body: other })
    const signed = await sources.dropboxSign.sign(sources.dropboxSign.sample({ now: Date.now(), id: 's1' }))
    await inbox.receive('dropboxSign', signed)
    await inbox.receive('dropboxSign', {
      ...signed,
      body: edit(signed.body, (document) => {
        document.signature_request!.signature_request_id = 's2'
      }),
    })
    await inbox.drain()
    for (const source of ['monday', 'dropboxSign']) {
      const { events } = await inbox.events.list({ source })
      expect(
        events.map(({ state }) => state),
        source,
      ).toEqual(['succeeded', 'succeeded'])
      expect(events.filter(({ sameAs }) => sameAs != null).length, source).toBe(1)
    }
    await inbox.stop()
  })

  test('old and early signatures are refused where the time is signed', async () => {
    const { inbox, sources } = open()
    const hour = 3_600_000
    for (const [name, tooFar] of [
      ['mailgun', 9 * hour],
      ['monday', hour],
      ['dropboxSign', 4 * 24 * hour],
    ] as const) {
      for (const now of [Date.now() - tooFar, Date.now() + tooFar]) {
        const delivery = await sources[name].sign(sources[name].sample({ now, id: `${name}${now}` }))
        expect((await inbox.receive(name, delivery)).httpStatus, name).toBe(401)
      }
    }
    await inbox.stop()
  })

  test('equal content is flagged where it is not usual, and not where it is', async () => {
    const { inbox, sources } = open()
    for (const id of ['g1', 'g2']) {
      const sample = sources.github.sample({ now: Date.now(), id })
      await inbox.receive('github', await sources.github.sign({ ...sample, body: '{"workflow":"w"}' }))
    }
    const sample = sources.dropbox.sample({ now: Date.now() })
    const change = await sources.dropbox.sign(sample)
    await inbox.receive('dropbox', change)
    await inbox.receive('dropbox', { ...change })
    const flagged = async (source: string) =>
      (await inbox.events.list({ source })).events.map(({ sameAs }) => sameAs != null).sort()
    expect(await flagged('github')).toEqual([false, true])
    expect(await flagged('dropbox')).toEqual([false, false])
    await inbox.stop()
  })
})
