import type { Keyring } from '../security/keys/key-store.ts'
import type { User } from '../security/users/user-store.ts'
import { questions, required } from './ask.ts'
import { compact, minutesOf, type Command, type Desk, type Given } from './command.ts'
import { CommandError, UsageError } from './command-error.ts'
import { eventColumns, keyColumns, showKey } from './show-keys.ts'
import { printable } from './text.ts'
import { counted, isLive, stateOf } from './time.ts'

const user = { name: 'user', value: 'name', description: 'Only the keys of this user' }
const yes = { name: 'yes', description: 'Do not ask first' }
const expiresIn = {
  name: 'expires-in',
  value: 'minutes',
  description: "How long the new key lives (the provider's default)",
}

/** The commands `rowgate keys ...`. */
export const keyCommands: readonly Command[] = [
  {
    name: 'keys create',
    description: 'Make a key for a user and show it, once',
    options: [
      { name: 'user', value: 'name', description: 'Whom the key acts for' },
      { name: 'provider', value: 'name', description: 'The provider, where there are several' },
      { name: 'description', value: 'text', description: 'What it is for' },
      expiresIn,
    ],
    example: 'keys create --user maria --description laptop --expires-in 60',
    run: createKey,
  },
  {
    name: 'keys list',
    description: 'List the keys, dead ones too',
    options: [
      user,
      { name: 'provider', value: 'name', description: 'Only the keys of this provider' },
    ],
    example: 'keys list --user maria',
    run: listKeys,
  },
  {
    name: 'keys revoke',
    argument: 'keyId',
    description: 'End a key now',
    options: [yes],
    example: 'keys revoke 0c9d2f7e-58a1-4a7b-9c3f-6f1f5f1f0d10',
    run: revokeKey,
  },
  {
    name: 'keys rotate',
    argument: 'keyId',
    description: 'Make a new key in place of one, and show it, once',
    options: [
      { name: 'overlap', value: 'minutes', description: 'How long the old key stays good (0)' },
      expiresIn,
    ],
    example: 'keys rotate 0c9d2f7e-58a1-4a7b-9c3f-6f1f5f1f0d10 --overlap 10',
    run: rotateKey,
  },
  {
    name: 'keys audit',
    description: 'Tell what happened to the keys',
    options: [{ name: 'key', value: 'keyId', description: 'Only what happened to this key' }, user],
    example: 'keys audit --user maria',
    run: auditKeys,
  },
]

async function createKey(given: Given, desk: Desk): Promise<void> {
  const life = given.one('expires-in')
  const minutes = life === undefined ? undefined : minutesOf(life, 'expires-in', 1)
  const name = given.one('user')
  if (name === undefined && !desk.interactive) throw new UsageError('Name the user: --user <name>.')
  const keys = await desk.keys()
  const request = {
    user: name ?? (await chooseUser(desk)),
    provider: given.one('provider'),
    description: given.one('description'),
    expiresIn: minutes,
  }
  if (desk.interactive && keys.providers.length > 1)
    request.provider ??= await chooseProvider(keys.providers, desk)
  if (name === undefined) {
    const ask = questions(desk)
    request.description ??= await ask.text('What is it for?', 'nothing in particular')
    request.expiresIn ??= await askMinutes(desk)
  }
  showKey(await keys.create(compact(request)), desk)
}

async function listKeys(given: Given, desk: Desk): Promise<void> {
  const keys = await desk.keys()
  const filter = compact({ user: given.one('user'), provider: given.one('provider') })
  const records = await keys.list(filter)
  desk.table(keyColumns(keys.providers, desk.now()), records, 'No keys.')
}

async function revokeKey(given: Given, desk: Desk): Promise<void> {
  const keyId = await wantedKey(given, desk)
  const keys = await desk.keys()
  if (desk.interactive && !given.has('yes')) {
    const sure = await questions(desk).confirm(`Revoke ${keyId}? It can't be undone.`)
    if (!sure) throw new CommandError('Nothing was changed.')
  }
  const record = await keys.revoke(keyId)
  desk.result(record, () => `Revoked ${printable(record.keyId)} of ${printable(record.user)}.`)
}

async function rotateKey(given: Given, desk: Desk): Promise<void> {
  const [overlap, life] = [given.one('overlap'), given.one('expires-in')]
  const rotation = {
    overlap: overlap === undefined ? undefined : minutesOf(overlap, 'overlap', 0),
    expiresIn: life === undefined ? undefined : minutesOf(life, 'expires-in', 1),
  }
  const keyId = await wantedKey(given, desk)
  const keys = await desk.keys()
  showKey(await keys.rotate(keyId, compact(rotation)), desk)
  const rest = rotation.overlap ?? 0
  desk.note(
    rest === 0
      ? 'The old key is dead.'
      : `The old key stays good for ${counted(rest, 'minute')}, unless it expires before.`,
  )
}

async function auditKeys(given: Given, desk: Desk): Promise<void> {
  const keys = await desk.keys()
  const filter = compact({ keyId: given.one('key'), user: given.one('user') })
  desk.table(eventColumns, await keys.audit(filter), 'Nothing happened yet.')
}

async function chooseUser(desk: Desk): Promise<string> {
  const message = 'Whom does the key act for?'
  const ask = questions(desk)
  const users = await (await desk.users()).list().catch(noList)
  if (users.length === 0) return (await ask.text(message, 'a user', required)) ?? ''
  const choices = users.map((each) => ({ value: each.user, hint: each.roles.join(', ') }))
  return ask.choose(message, choices)
}

// Users that application code resolves can not be listed.
const noList = (): readonly User[] => []

function chooseProvider(providers: Keyring['providers'], desk: Desk): Promise<string> {
  const choices = providers.map(({ name, identifier }) => ({ value: identifier, label: name }))
  return questions(desk).choose('Which provider makes the key?', choices)
}

async function askMinutes(desk: Desk): Promise<number | undefined> {
  const answer = await questions(desk).text(
    'How many minutes does it live?',
    "the provider's default",
    (text) => (/^(?:|0*[1-9]\d{0,11})$/.test(text) ? undefined : 'Whole minutes, 1 or more.'),
  )
  return answer === undefined ? undefined : Number(answer)
}

/** Returns the key of a command: the given one, or one chosen from the active keys. */
async function wantedKey(given: Given, desk: Desk): Promise<string> {
  if (given.argument !== undefined) return given.argument
  if (!desk.interactive) throw new UsageError('Name the key: <keyId>, as keys list shows it.')
  const records = await (await desk.keys()).list()
  const live = records.filter((key) => isLive(key, desk.now()))
  if (live.length === 0) throw new CommandError('There is no key that lives.')
  const choices = live.map((key) => ({
    value: key.keyId,
    label: `${key.start}…  ${key.user}`,
    hint: [key.description, stateOf(key, desk.now())].filter((part) => part !== null).join(', '),
  }))
  return questions(desk).choose('Which key?', choices)
}
