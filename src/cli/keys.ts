import type { Keyring, KeyEvent, KeyRecord, NewKey } from '../security/keys/key-store.ts'
import type { User } from '../security/users/user-store.ts'
import { questions, required } from './ask.ts'
import { compact, minutesOf, type CommandContext, type Given } from './command.ts'
import { CommandError, UsageError } from './command-error.ts'
import { printable } from './text.ts'
import { counted, isActive, stateOf, fromNow, readableTime } from './time.ts'
import type { Column } from './table.ts'
import type { Terminal } from './terminal.ts'

/** Runs `rowgate keys create`. */
export async function createKey(given: Given, context: CommandContext): Promise<void> {
  const life = given.one('expires-in')
  const minutes = life === undefined ? undefined : minutesOf(life, 'expires-in', 1)
  const name = given.one('user')
  if (name === undefined && !context.interactive) throw new UsageError('--user <name> is required.')
  const keys = await context.keys()
  const request = {
    user: name ?? (await chooseUser(context)),
    provider: given.one('provider'),
    description: given.one('description'),
    expiresIn: minutes,
  }
  // The keys of a disabled one would be rejected. Without a choice, the service has its own default.
  const providers = keys.providers.filter(({ enabled }) => enabled)
  if (context.interactive && providers.length > 1)
    request.provider ??= await chooseProvider(providers, context)
  if (name === undefined) {
    const ask = questions(context)
    request.description ??= await ask.text('What is the purpose of the key?', 'optional')
    request.expiresIn ??= await askMinutes(context)
  }
  await requireEnabled(request.user, context)
  showKey(await keys.create(compact(request)), context)
}

/** Throws a CommandError for a disabled user: the key would be rejected. */
async function requireEnabled(name: string, context: CommandContext): Promise<void> {
  const users = await context.users().catch(() => undefined)
  const found = await users?.get(name).catch(() => undefined)
  if (found?.enabled !== false) return
  const shown = printable(name)
  throw new CommandError(
    `The user ${shown} is disabled, so the key would be rejected. First run: rowgate users enable ${shown}`,
  )
}

/** Runs `rowgate keys list`. */
export async function listKeys(given: Given, context: CommandContext): Promise<void> {
  const keys = await context.keys()
  const filter = compact({ user: given.one('user'), provider: given.one('provider') })
  const records = await keys.list(filter)
  context.table(keyColumns(keys.providers, context.now()), records, 'No keys.')
}

/** Runs `rowgate keys revoke`. */
export async function revokeKey(given: Given, context: CommandContext): Promise<void> {
  const keyId = await wantedKey(given, context)
  const keys = await context.keys()
  if (context.interactive && !given.has('yes')) {
    const sure = await questions(context).confirm(`Revoke ${keyId}? This can't be undone.`)
    if (!sure) throw new CommandError('Nothing was changed.')
  }
  const record = await keys.revoke(keyId)
  context.result(record, () => `Revoked ${printable(record.keyId)} of ${printable(record.user)}.`)
}

/** Runs `rowgate keys rotate`. */
export async function rotateKey(given: Given, context: CommandContext): Promise<void> {
  const [overlap, life] = [given.one('overlap'), given.one('expires-in')]
  const rotation = {
    overlap: overlap === undefined ? undefined : minutesOf(overlap, 'overlap', 0),
    expiresIn: life === undefined ? undefined : minutesOf(life, 'expires-in', 1),
  }
  const keyId = await wantedKey(given, context)
  const keys = await context.keys()
  showKey(await keys.rotate(keyId, compact(rotation)), context)
  const rest = rotation.overlap ?? 0
  context.note(
    rest === 0
      ? 'The old key is no longer valid.'
      : `The old key stays valid for ${counted(rest, 'minute')}, unless it expires earlier.`,
  )
}

/** Runs `rowgate keys audit`. */
export async function auditKeys(given: Given, context: CommandContext): Promise<void> {
  const keys = await context.keys()
  const filter = compact({ keyId: given.one('key'), user: given.one('user') })
  context.table(eventColumns, await keys.audit(filter), 'No events.')
}

async function chooseUser(context: CommandContext): Promise<string> {
  const message = 'Which user is the key for?'
  const ask = questions(context)
  const users = await (await context.users()).list().catch(noList)
  if (users.length === 0) return (await ask.text(message, 'a user', required)) ?? ''
  const choices = users.map((each) => ({ value: each.user, hint: each.roles.join(', ') }))
  return ask.choose(message, choices)
}

// Users that application code resolves cannot be listed.
const noList = (): readonly User[] => []

function chooseProvider(providers: Keyring['providers'], context: CommandContext): Promise<string> {
  const choices = providers.map(({ name, identifier }) => ({ value: identifier, label: name }))
  return questions(context).choose('Which provider creates the key?', choices)
}

async function askMinutes(context: CommandContext): Promise<number | undefined> {
  const answer = await questions(context).text(
    'In how many minutes does the key expire?',
    "the provider's default",
    (text) =>
      /^(?:|0*[1-9]\d{0,11})$/.test(text)
        ? undefined
        : 'Enter a whole number of minutes, 1 or more.',
  )
  return answer === undefined ? undefined : Number(answer)
}

/** Returns the key of a command: the given one, or one chosen from the active keys. */
async function wantedKey(given: Given, context: CommandContext): Promise<string> {
  if (given.argument !== undefined) return given.argument
  if (!context.interactive)
    throw new UsageError('Missing argument: <keyId>. The command keys list shows it.')
  const records = await (await context.keys()).list()
  const active = records.filter((key) => isActive(key, context.now()))
  if (active.length === 0) throw new CommandError('There is no active key.')
  const choices = active.map((key) => ({
    value: key.keyId,
    label: `${key.start}…  ${key.user}`,
    hint: [key.description, stateOf(key, context.now())].filter((part) => part !== null).join(', '),
  }))
  return questions(context).choose('Which key?', choices)
}

/**
 * Shows a new key. Only the key is printed to the output, so that a script can read it; the notes are
 * printed to the messages.
 */
function showKey(made: NewKey, terminal: Terminal): void {
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
  terminal.note('Copy this key now. It is not stored and cannot be shown again.')
  terminal.note(`Its user is ${printable(made.user)}. ${expiry} Its identifier is ${made.keyId}.`)
  terminal.note('Clients send it over HTTPS in the header of its provider, by default X-API-Key.')
}

/** Returns the columns of the table of keys; with the provider if there are several. */
function keyColumns(providers: Keyring['providers'], now: Date): readonly Column<KeyRecord>[] {
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
const eventColumns: readonly Column<KeyEvent>[] = [
  { title: 'TIME (UTC)', text: ({ at }) => readableTime(at), whole: true },
  { title: 'EVENT', text: ({ event }) => event, whole: true },
  { title: 'USER', text: (event) => event.user },
  { title: 'KEY ID', text: ({ keyId }) => keyId, whole: true },
  { title: 'REASON', text: ({ reason }) => reason ?? '-', spare: true },
  { title: 'ACTOR', text: ({ actor }) => actor ?? '-', spare: true },
  { title: 'TIMES', text: ({ times }) => String(times), spare: true },
]

function timeColumn<Row>(title: string, of: (row: Row) => string | null): Column<Row> {
  return { title, text: (row) => readableTime(of(row)), whole: true, spare: true }
}
