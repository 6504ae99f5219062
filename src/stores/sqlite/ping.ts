/** What `ping` looks at and writes on SQLite, on the connection that record uses. */
import type { Connection } from './connection.js'

export function look(connection: Connection): void {
  connection.read(() => connection.prepare('select 1 from hookonce_events limit 1').get())
}

/** Committed, or a full disk would not be noticed; then removed, and the next delivery may have its pages. */
export function probe(connection: Connection, _now: number, bytes: number): void {
  connection.write(() =>
    connection
      .prepare('insert or replace into hookonce_probe (id, filler) values (1, zeroblob(?))')
      .run(bytes),
  )
  connection.write(() => connection.prepare('delete from hookonce_probe').run())
}
