import { questions } from './ask.ts'
import { UsageError } from './refusal.ts'
import type { Terminal } from './terminal.ts'

/**
 * A password from the input: asked for at a terminal, else all of the input without its last line
 * break. Throws a UsageError when there is none.
 */
export async function readPassword(terminal: Terminal): Promise<string> {
  if (terminal.interactive) return questions(terminal).secret('Password')
  if (terminal.input.isTTY === true)
    throw new UsageError('--password-stdin needs the password on the input.')
  const chunks: Uint8Array[] = []
  for await (const chunk of terminal.input) chunks.push(Buffer.from(chunk as Uint8Array | string))
  const password = Buffer.concat(chunks)
    .toString()
    .replace(/\r?\n$/, '')
  if (password === '') throw new UsageError('--password-stdin found no password on the input.')
  return password
}
