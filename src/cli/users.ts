import type { Attributes } from '../definition/principal.ts'
import type { User, UserEvent } from '../security/users/user-store.ts'
import { questions, required } from './ask.ts'
import { compact, type CommandContext, type Given } from './command.ts'
import { CommandError, UsageError } from './command-error.ts'
import type { Column } from './table.ts'
import { printable } from './text.ts'
import type { Terminal } from './terminal.ts'
import { readableTime } from './time.ts'

/** Runs `rowgate users add`. */
export async function addUser(given: Given, context: CommandContext): Promise<void> {
  const attributes = attributesOf(given)
  const name = given.argument
  if (name === undefined && !context.interactive) throw new UsageError('Missing argument: <user>.')
  const users = await context.users()
  const ask = questions(context)
  const user = name ?? (await ask.text('What is the name of the user?', 'maria', required)) ?? ''
  let roles = given.all('role')
  if (name === undefined && roles.length === 0)
    roles = listed(
      (await ask.text('Which roles does the user have?', 'optional, separated by commas')) ?? '',
    )
  const password = given.has('password-stdin') ? await readPassword(context) : undefined
  const added = await users.add(compact({ user, roles, attributes, password }))
  showUser(added, 'Added', context)
}

/** Runs `rowgate users list`. */
export async function listUsers(_: Given, context: CommandContext): Promise<void> {
  const users = await (await context.users()).list()
  context.table(userColumns, users.map(visible), 'No users.')
}

/** Runs `rowgate users disable`. */
export function disableUser(given: Given, context: CommandContext): Promise<void> {
  return setEnabled(given, context, false)
}

/** Runs `rowgate users enable`. */
export function enableUser(given: Given, context: CommandContext): Promise<void> {
  return setEnabled(given, context, true)
}

async function setEnabled(given: Given, context: CommandContext, enabled: boolean): Promise<void> {
  const name = await wantedUser(given, context, (user) => user.enabled !== enabled)
  const user = await (await context.users()).change(name, { enabled })
  showUser(user, enabled ? 'Enabled' : 'Disabled', context)
}

/** Runs `rowgate users roles`. */
export async function changeRoles(given: Given, context: CommandContext): Promise<void> {
  const [set, added, removed] = [given.one('set'), given.all('add'), given.all('remove')]
  const changes = set !== undefined || added.length > 0 || removed.length > 0
  if (set !== undefined && added.length + removed.length > 0)
    throw new UsageError('--set cannot be combined with --add or --remove.')
  const name = await wantedUser(given, context, () => true)
  const users = await context.users()
  const before = await users.get(name)
  if (before === undefined) throw new CommandError(`Unknown user: ${printable(name)}.`)
  const wanted = set === undefined ? [...before.roles, ...added] : listed(set)
  const roles = [...new Set(wanted)].filter((role) => !removed.includes(role))
  const after = changes ? await users.change(name, { roles }) : before
  context.result(visible(after), () => after.roles.map(printable).join('\n') || '(no roles)')
}

/** Runs `rowgate users update`. */
export async function updateUser(given: Given, context: CommandContext): Promise<void> {
  const set = attributesOf(given)
  const unset = given.all('remove-attribute')
  const roles = given.one('roles')
  const isUnchanged = roles === undefined && unset.length + Object.keys(set).length === 0
  if (isUnchanged)
    throw new UsageError('Nothing to change: add --roles, --attribute or --remove-attribute.')
  const both = unset.find((name) => Object.hasOwn(set, name))
  if (both !== undefined) throw new UsageError('An attribute cannot be both set and removed.')
  const name = await wantedUser(given, context, () => true)
  const users = await context.users()
  const before = await users.get(name)
  if (before === undefined) throw new CommandError(`Unknown user: ${printable(name)}.`)
  const kept = Object.entries(before.attributes).filter(([each]) => !unset.includes(each))
  const isChanged = unset.length + Object.keys(set).length > 0
  const user = await users.change(name, {
    ...(roles !== undefined && { roles: listed(roles) }),
    ...(isChanged && { attributes: { ...Object.fromEntries(kept), ...set } }),
  })
  showUser(user, 'Updated', context)
}

/** Runs `rowgate users password`. */
export async function changePassword(given: Given, context: CommandContext): Promise<void> {
  const user = given.argument
  if (user === undefined) throw new UsageError('Missing argument: <user>.')
  const password = given.has('none') ? null : await readPassword(context)
  const { enabled, roles, attributes } = await (await context.users()).change(user, { password })
  const verb = password === null ? 'Removed' : 'Changed'
  context.result({ user, enabled, roles, attributes }, () =>
    printable(`${verb} the password of ${user}.`),
  )
}

/** Runs `rowgate users remove`. */
export async function removeUser(given: Given, context: CommandContext): Promise<void> {
  const name = await wantedUser(given, context, () => true)
  const users = await context.users()
  if (context.interactive && !given.has('yes')) {
    const sure = await questions(context).confirm(`Remove ${name}? Its keys become invalid.`)
    if (!sure) throw new CommandError('Nothing was changed.')
  }
  await users.remove(name)
  context.result({ user: name }, () => `Removed ${printable(name)}.`)
}

/** Runs `rowgate users audit`. */
export async function auditUsers(given: Given, context: CommandContext): Promise<void> {
  const users = await context.users()
  const filter = compact({ user: given.one('user'), actor: given.one('actor') })
  context.table(eventColumns, await users.audit(filter), 'No events.')
}

/** The columns of the table of user events. */
const eventColumns: readonly Column<UserEvent>[] = [
  { title: 'TIME (UTC)', text: ({ at }) => readableTime(at), whole: true },
  { title: 'EVENT', text: ({ event }) => event, whole: true },
  { title: 'USER', text: ({ user }) => user },
  { title: 'ACTOR', text: ({ actor }) => actor ?? '-' },
  { title: 'CHANGED', text: ({ changed }) => changed.join(', ') || '-', spare: true },
  { title: 'ROLES', text: changedRoles, spare: true },
]

function changedRoles({ addedRoles, removedRoles }: UserEvent): string {
  const signed = [
    ...addedRoles.map((role) => `+${role}`),
    ...removedRoles.map((role) => `-${role}`),
  ]
  return signed.join(', ') || '-'
}

/** Returns the user of a command: the given one, or one chosen from a list. */
async function wantedUser(
  given: Given,
  context: CommandContext,
  fits: (user: User) => boolean,
): Promise<string> {
  if (given.argument !== undefined) return given.argument
  if (!context.interactive) throw new UsageError('Missing argument: <user>.')
  const users = (await (await context.users()).list()).filter(fits)
  if (users.length === 0) throw new CommandError('There is no user to choose from.')
  const choices = users.map(({ user, roles }) => ({ value: user, hint: roles.join(', ') }))
  return questions(context).choose('Which user?', choices)
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
  if (at < 1) throw new UsageError(`Write --${option} as --${option} name=value.`)
  return [text.slice(0, at), text.slice(at + 1)]
}

function flatValue(text: string): Attributes[string] {
  try {
    const value: unknown = JSON.parse(text)
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value))
      return value as Attributes[string]
  } catch {}
  throw new UsageError(
    'The value of --attribute-json must be true, false, null, a number or a JSON string.',
  )
}

function listed(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim())
  return [...new Set(parts)].filter((part) => part !== '')
}

/** Returns the displayed members of a user. */
function visible({ user, enabled, roles, attributes }: User): User {
  return { user, enabled, roles, attributes }
}

function showUser(user: User, verb: string, context: CommandContext): void {
  context.result(visible(user), () => {
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

/**
 * Reads a password: at a terminal, asks for it; otherwise reads the complete input without its last line
 * break. Rejects with a UsageError if the input is empty.
 */
async function readPassword(terminal: Terminal): Promise<string> {
  if (terminal.interactive) return questions(terminal).secret('Password')
  if (terminal.input.isTTY === true)
    throw new UsageError('The password is read from standard input: use a pipe.')
  const chunks: Uint8Array[] = []
  for await (const chunk of terminal.input) chunks.push(Buffer.from(chunk as Uint8Array | string))
  const password = Buffer.concat(chunks)
    .toString()
    .replace(/\r?\n$/, '')
  if (password === '')
    throw new UsageError('Standard input is empty: it must contain the password.')
  return password
}
