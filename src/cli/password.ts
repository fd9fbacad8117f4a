import { questions } from './ask.ts'
import type { Command } from './command.ts'
import { UsageError } from './command-error.ts'
import type { Terminal } from './terminal.ts'
import { printable } from './text.ts'

/**
 * A password from the input: asked for at a terminal, else all of the input without its last line
 * break. Throws a UsageError when there is none.
 */
export async function readPassword(terminal: Terminal): Promise<string> {
  if (terminal.interactive) return questions(terminal).secret('Password')
  if (terminal.input.isTTY === true)
    throw new UsageError('The password is read from the input: pipe it in.')
  const chunks: Uint8Array[] = []
  for await (const chunk of terminal.input) chunks.push(Buffer.from(chunk as Uint8Array | string))
  const password = Buffer.concat(chunks)
    .toString()
    .replace(/\r?\n$/, '')
  if (password === '') throw new UsageError('There is no password on the input.')
  return password
}

/** `rowgate users password maria`: sets or removes a password. */
export const passwordCommand: Command = {
  name: 'users password',
  argument: 'user',
  description: 'Give a user another password, read from the input or asked for',
  options: [{ name: 'none', description: 'Take the password away instead' }],
  example: 'users password maria --none',
  run: async (given, desk) => {
    const user = given.argument
    if (user === undefined) throw new UsageError('Name the user: <user>.')
    const password = given.has('none') ? null : await readPassword(desk)
    const { enabled, roles, attributes } = await (await desk.users()).change(user, { password })
    const verb = password === null ? 'Took away' : 'Changed'
    desk.result({ user, enabled, roles, attributes }, () =>
      printable(`${verb} the password of ${user}.`),
    )
  },
}
