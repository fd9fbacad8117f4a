import type { KeyEvent, KeyRecord, Keyring, NewKey } from '../security/keys/key-store.ts'
import type { Column } from './table.ts'
import type { Terminal } from './terminal.ts'
import { printable } from './text.ts'
import { fromNow, readableTime, stateOf } from './time.ts'

/**
 * Shows a new key. Only the key is printed to the output, so that a script can read it; the notes are
 * printed to the messages.
 */
export function showKey(made: NewKey, terminal: Terminal): void {
  const { key } = made
  if (terminal.json) {
    terminal.result({ ...made, key }, () => key)
    return
  }
  const line = '─'.repeat(Math.max(40, key.length + 4))
  const isTerminal = terminal.output.isTTY === true
  terminal.result(undefined, () =>
    isTerminal ? `${line}\n\n  ${terminal.bold(key)}\n\n${line}` : key,
  )
  const expiry =
    made.expires === null
      ? 'It does not expire.'
      : `It expires at ${readableTime(made.expires)} UTC, ${fromNow(Date.parse(made.expires), terminal.now())}.`
  terminal.note('Copy this key now. It is not stored and can not be shown again.')
  terminal.note(`Its user is ${printable(made.user)}. ${expiry} Its identifier is ${made.keyId}.`)
  terminal.note('Clients send it over HTTPS in the header of its provider, by default X-API-Key.')
}

/** Returns the columns of the table of keys; with the provider if there are several. */
export function keyColumns(
  providers: Keyring['providers'],
  now: Date,
): readonly Column<KeyRecord>[] {
  const nameOf = ({ provider }: KeyRecord): string =>
    providers.find(({ identifier }) => identifier === provider)?.name ?? provider
  return [
    { title: 'KEY ID', text: ({ keyId }) => keyId, whole: true },
    { title: 'STARTS', text: ({ start }) => start },
    { title: 'USER', text: (key) => key.user },
    { title: 'STATE', text: (key) => stateOf(key, now), whole: true },
    { title: 'DESCRIPTION', text: ({ description }) => description ?? '-', spare: true },
    ...(providers.length > 1 ? [{ title: 'PROVIDER', text: nameOf, spare: true }] : []),
    timeColumn('CREATED (UTC)', ({ created }) => created),
    timeColumn('LAST USED (UTC)', ({ lastUsed }) => lastUsed),
  ]
}

/** The columns of the table of key events. */
export const eventColumns: readonly Column<KeyEvent>[] = [
  { title: 'TIME (UTC)', text: ({ at }) => readableTime(at), whole: true },
  { title: 'EVENT', text: ({ event }) => event, whole: true },
  { title: 'USER', text: (event) => event.user },
  { title: 'KEY ID', text: ({ keyId }) => keyId, whole: true },
  { title: 'REASON', text: ({ reason }) => reason ?? '-', spare: true },
  { title: 'TIMES', text: ({ times }) => String(times), spare: true },
]

function timeColumn<Row>(title: string, of: (row: Row) => string | null): Column<Row> {
  return { title, text: (row) => readableTime(of(row)), whole: true, spare: true }
}
