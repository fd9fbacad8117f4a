import { questions } from './ask.ts'
import type { Command } from './command.ts'
import { UsageError } from './command-error.ts'
import type { Terminal } from './terminal.ts'
import { printable } from './text.ts'

/**
 * Reads a password: at a terminal, asks for it; otherwise reads the complete input without its last line
 * break. Rejects with a UsageError if the input is empty.
 */
export async function readPassword(terminal: Terminal): Promise<string> {
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

/** The command `rowgate users password`: sets or removes a password. */
export const passwordCommand: Command = {
  name: 'users password',
  argument: 'user',
  description: 'Set the password of a user, from standard input or a prompt',
  options: [{ name: 'none', description: 'Remove the password instead' }],
  example: 'users password maria --none',
  run: async (given, context) => {
    const user = given.argument
    if (user === undefined) throw new UsageError('Missing argument: <user>.')
    const password = given.has('none') ? null : await readPassword(context)
    const { enabled, roles, attributes } = await (await context.users()).change(user, { password })
    const verb = password === null ? 'Removed' : 'Changed'
    context.result({ user, enabled, roles, attributes }, () =>
      printable(`${verb} the password of ${user}.`),
    )
  },
}
