import type { Option } from '../arguments.ts'
import type { Command } from '../command.ts'

const user: Option = { name: 'user', value: 'name', description: 'Only the keys of this user' }
const yes: Option = { name: 'yes', description: 'Do not ask for confirmation' }
const expiresIn: Option = {
  name: 'expires-in',
  value: 'minutes',
  description: 'Minutes until the key expires (default: set by the provider)',
}

/** The commands `rowgate keys ...`. */
export const keyCommands: readonly Command[] = [
  {
    name: 'keys create',
    description: 'Create a key for a user and show it once',
    options: [
      { name: 'user', value: 'name', description: 'The user of the key' },
      { name: 'provider', value: 'name', description: 'The provider, if there are several' },
      { name: 'description', value: 'text', description: 'The purpose of the key' },
      expiresIn,
    ],
    examples: [
      'keys create --user maria --description laptop --expires-in 60',
      'keys create --user maria --service ./service.js --json',
    ],
    load: async () => (await import('../keys.ts')).createKey,
  },
  {
    name: 'keys list',
    description: 'List the keys, including expired and revoked ones',
    options: [
      user,
      { name: 'provider', value: 'name', description: 'Only the keys of this provider' },
    ],
    isReading: true,
    examples: ['keys list', 'keys list --user maria --json'],
    load: async () => (await import('../keys.ts')).listKeys,
  },
  {
    name: 'keys revoke',
    argument: '<keyId>',
    description: 'Revoke a key immediately',
    options: [yes],
    examples: ['keys revoke 0c9d2f7e-58a1-4a7b-9c3f-6f1f5f1f0d10'],
    load: async () => (await import('../keys.ts')).revokeKey,
  },
  {
    name: 'keys rotate',
    argument: '<keyId>',
    description: 'Replace a key with a new one and show it once',
    options: [
      {
        name: 'overlap',
        value: 'minutes',
        description: 'Minutes for which the old key stays valid (default: 0)',
      },
      expiresIn,
    ],
    examples: ['keys rotate 0c9d2f7e-58a1-4a7b-9c3f-6f1f5f1f0d10 --overlap 10'],
    load: async () => (await import('../keys.ts')).rotateKey,
  },
  {
    name: 'keys audit',
    description: 'List the events of the keys',
    options: [{ name: 'key', value: 'keyId', description: 'Only the events of this key' }, user],
    isReading: true,
    examples: ['keys audit --user maria'],
    load: async () => (await import('../keys.ts')).auditKeys,
  },
]

/** The commands `rowgate users ...` for built-in users. */
export const userCommands: readonly Command[] = [
  {
    name: 'users add',
    argument: '<user>',
    description: 'Add a user',
    options: [
      { name: 'role', value: 'name', description: 'A role of the user', repeats: true },
      {
        name: 'attribute',
        value: 'name=string',
        description: 'An attribute with a string value',
        repeats: true,
      },
      {
        name: 'attribute-json',
        value: 'name=value',
        description: 'An attribute with a JSON value',
        repeats: true,
      },
      {
        name: 'password-stdin',
        description: 'Read the password from standard input or a prompt',
      },
    ],
    examples: [
      'users add maria --role Sales --role Office --attribute region=North',
      'users add nino --attribute-json limit=500',
    ],
    load: async () => (await import('../users.ts')).addUser,
  },
  {
    name: 'users list',
    description: 'List the users',
    options: [],
    isReading: true,
    examples: ['users list', 'users list --json'],
    load: async () => (await import('../users.ts')).listUsers,
  },
  {
    name: 'users disable',
    argument: '<user>',
    description: "Reject a user's credentials",
    options: [],
    examples: ['users disable maria'],
    load: async () => (await import('../users.ts')).disableUser,
  },
  {
    name: 'users enable',
    argument: '<user>',
    description: "Accept a user's credentials again",
    options: [],
    examples: ['users enable maria'],
    load: async () => (await import('../users.ts')).enableUser,
  },
  {
    name: 'users roles',
    argument: '<user>',
    description: 'Show or change the roles of a user',
    options: [
      { name: 'set', value: 'roles', description: 'All roles of the user, separated by commas' },
      { name: 'add', value: 'role', description: 'A role to add', repeats: true },
      { name: 'remove', value: 'role', description: 'A role to remove', repeats: true },
    ],
    isReading: (given) => !['set', 'add', 'remove'].some((option) => given.has(option)),
    examples: ['users roles maria --set Sales,Office', 'users roles maria --add Office'],
    load: async () => (await import('../users.ts')).changeRoles,
  },
  {
    name: 'users update',
    argument: '<user>',
    description: 'Change the roles and attributes of a user',
    options: [
      { name: 'roles', value: 'roles', description: 'All roles of the user, separated by commas' },
      {
        name: 'attribute',
        value: 'name=string',
        description: 'An attribute to set to a string',
        repeats: true,
      },
      {
        name: 'attribute-json',
        value: 'name=value',
        description: 'An attribute to set to a JSON value',
        repeats: true,
      },
      {
        name: 'remove-attribute',
        value: 'name',
        description: 'An attribute to remove',
        repeats: true,
      },
    ],
    examples: [
      'users update maria --attribute region=South --remove-attribute limit',
      'users update maria --roles Sales,Office',
    ],
    load: async () => (await import('../users.ts')).updateUser,
  },
  {
    name: 'users password',
    argument: '<user>',
    description: 'Set the password of a user, from standard input or a prompt',
    options: [{ name: 'none', description: 'Remove the password instead' }],
    examples: ['users password maria --none'],
    load: async () => (await import('../users.ts')).changePassword,
  },
  {
    name: 'users remove',
    argument: '<user>',
    description: 'Remove a user, whose keys become invalid',
    options: [yes],
    examples: ['users remove maria'],
    load: async () => (await import('../users.ts')).removeUser,
  },
  {
    name: 'users audit',
    description: 'List the changes of users, with their actors',
    options: [
      { name: 'user', value: 'name', description: 'Only the events of this user' },
      { name: 'actor', value: 'name', description: 'Only the changes of this actor' },
    ],
    isReading: true,
    examples: ['users audit --user maria'],
    load: async () => (await import('../users.ts')).auditUsers,
  },
]
