import type { Attributes } from '../definition/principal.ts'
import type { User } from '../security/users/user-store.ts'
import { questions, required } from './ask.ts'
import { compact, type Command, type Desk, type Given } from './command.ts'
import { passwordCommand, readPassword } from './password.ts'
import { CommandError, UsageError } from './command-error.ts'
import type { Column } from './table.ts'
import { printable } from './text.ts'

/** The commands `rowgate users ...`: built-in users. */
export const userCommands: readonly Command[] = [
  {
    name: 'users add',
    argument: 'user',
    description: 'Add a user',
    options: [
      { name: 'role', value: 'name', description: 'A role that it has', repeats: true },
      {
        name: 'attribute',
        value: 'name=text',
        description: 'Something else that is known about it',
        repeats: true,
      },
      {
        name: 'attribute-json',
        value: 'name=value',
        description: 'The same as true, false, null, number or JSON text',
        repeats: true,
      },
      {
        name: 'password-stdin',
        description: 'Read its password from the input, or ask at a terminal',
      },
    ],
    example: 'users add maria --role Sales --role Office --attribute region=North',
    run: addUser,
  },
  {
    name: 'users list',
    description: 'List the users',
    options: [],
    example: 'users list',
    run: listUsers,
  },
  {
    name: 'users disable',
    argument: 'user',
    description: "Refuse a user's credentials from the next request on",
    options: [],
    example: 'users disable maria',
    run: (given, desk) => enableUser(given, desk, false),
  },
  {
    name: 'users enable',
    argument: 'user',
    description: "Accept a user's credentials again",
    options: [],
    example: 'users enable maria',
    run: (given, desk) => enableUser(given, desk, true),
  },
  {
    name: 'users roles',
    argument: 'user',
    description: 'Show or change the roles of a user',
    options: [
      { name: 'set', value: 'roles', description: 'Exactly these, between commas' },
      { name: 'add', value: 'role', description: 'One more', repeats: true },
      { name: 'remove', value: 'role', description: 'One less', repeats: true },
    ],
    example: 'users roles maria --set Sales,Office',
    run: changeRoles,
  },
  passwordCommand,
  {
    name: 'users remove',
    argument: 'user',
    description: 'Take a user away, and with it the use of its keys',
    options: [{ name: 'yes', description: 'Do not ask first' }],
    example: 'users remove maria',
    run: removeUser,
  },
]

async function addUser(given: Given, desk: Desk): Promise<void> {
  const attributes = attributesOf(given)
  const name = given.argument
  if (name === undefined && !desk.interactive) throw new UsageError('Name the user: <user>.')
  const users = await desk.users()
  const ask = questions(desk)
  const user = name ?? (await ask.text('What is the user called?', 'maria', required)) ?? ''
  let roles = given.all('role')
  if (name === undefined && roles.length === 0)
    roles = listed((await ask.text('Which roles?', 'none; several between commas')) ?? '')
  const password = given.has('password-stdin') ? await readPassword(desk) : undefined
  const added = await users.add(compact({ user, roles, attributes, password }))
  showUser(added, 'Added', desk)
}

async function listUsers(_: Given, desk: Desk): Promise<void> {
  const users = await (await desk.users()).list()
  desk.table(userColumns, users.map(visible), 'No users.')
}

async function enableUser(given: Given, desk: Desk, enabled: boolean): Promise<void> {
  const name = await wantedUser(given, desk, (user) => user.enabled !== enabled)
  const user = await (await desk.users()).change(name, { enabled })
  showUser(user, enabled ? 'Enabled' : 'Disabled', desk)
}

async function changeRoles(given: Given, desk: Desk): Promise<void> {
  const [set, added, removed] = [given.one('set'), given.all('add'), given.all('remove')]
  const changes = set !== undefined || added.length > 0 || removed.length > 0
  if (set !== undefined && added.length + removed.length > 0)
    throw new UsageError('--set names all roles: leave out --add and --remove.')
  const name = await wantedUser(given, desk, () => true)
  const users = await desk.users()
  const before = await users.get(name)
  if (before === undefined) throw new CommandError(`There is no user ${printable(name)}.`)
  const wanted = set === undefined ? [...before.roles, ...added] : listed(set)
  const roles = [...new Set(wanted)].filter((role) => !removed.includes(role))
  const after = changes ? await users.change(name, { roles }) : before
  desk.result(visible(after), () => after.roles.map(printable).join('\n') || '(no roles)')
}

async function removeUser(given: Given, desk: Desk): Promise<void> {
  const name = await wantedUser(given, desk, () => true)
  const users = await desk.users()
  if (desk.interactive && !given.has('yes')) {
    const sure = await questions(desk).confirm(`Remove ${name}? Its keys will be of no use.`)
    if (!sure) throw new CommandError('Nothing was changed.')
  }
  await users.remove(name)
  desk.result({ user: name }, () => `Removed ${printable(name)}.`)
}

/** Returns the user of a command: the given one, or one chosen from a list. */
async function wantedUser(
  given: Given,
  desk: Desk,
  fits: (user: User) => boolean,
): Promise<string> {
  if (given.argument !== undefined) return given.argument
  if (!desk.interactive) throw new UsageError('Name the user: <user>.')
  const users = (await (await desk.users()).list()).filter(fits)
  if (users.length === 0) throw new CommandError('There is no such user.')
  const choices = users.map(({ user, roles }) => ({ value: user, hint: roles.join(', ') }))
  return questions(desk).choose('Which user?', choices)
}

function attributesOf(given: Given): Attributes {
  const texts = given.all('attribute').map((text) => parted(text, 'attribute'))
  const values = given.all('attribute-json').map((text) => {
    const [name, value] = parted(text, 'attribute-json')
    return [name, flatValue(value)] as const
  })
  return Object.fromEntries<Attributes[string]>([...texts, ...values])
}

function parted(text: string, option: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new UsageError(`--${option} is written --${option} name=value.`)
  return [text.slice(0, at), text.slice(at + 1)]
}

function flatValue(text: string): Attributes[string] {
  try {
    const value: unknown = JSON.parse(text)
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value))
      return value as Attributes[string]
  } catch {}
  throw new UsageError('--attribute-json takes true, false, null, a number or JSON text.')
}

function listed(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim())
  return [...new Set(parts)].filter((part) => part !== '')
}

/** Returns the displayed members of a user. */
function visible({ user, enabled, roles, attributes }: User): User {
  return { user, enabled, roles, attributes }
}

function showUser(user: User, verb: string, desk: Desk): void {
  desk.result(visible(user), () => {
    const roles = user.roles.length === 0 ? 'no roles' : `roles ${user.roles.join(', ')}`
    return printable(`${verb} ${user.user} (${roles}).`)
  })
}

const userColumns: readonly Column<User>[] = [
  { title: 'USER', text: ({ user }) => user },
  { title: 'STATE', text: ({ enabled }) => (enabled ? 'active' : 'disabled'), whole: true },
  { title: 'ROLES', text: ({ roles }) => roles.join(', ') || '-' },
  { title: 'ATTRIBUTES', text: ({ attributes }) => attributeText(attributes), spare: true },
]

function attributeText(attributes: Attributes): string {
  const parts = Object.entries(attributes).map(([name, value]) => `${name}=${String(value)}`)
  return parts.join(', ') || '-'
}
