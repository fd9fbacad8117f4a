import * as clack from '@clack/prompts'
import { CommandError } from './command-error.ts'
import type { ProgramEnvironment } from './terminal.ts'
import { printable } from './text.ts'

/** One of several choices. */
export interface Choice {
  readonly value: string
  readonly label?: string
  readonly hint?: string
}

/** Questions on a terminal. Each rejects with a CommandError if the user cancels. */
export interface Questions {
  choose(message: string, choices: readonly Choice[]): Promise<string>
  /** Asks for a string; undefined for an empty answer to an optional question. */
  text(message: string, hint: string, check?: Check): Promise<string | undefined>
  /** Asks for a secret, which is not displayed. */
  secret(message: string): Promise<string>
  confirm(message: string): Promise<boolean>
}

/** Returns what is wrong with an answer. */
export type Check = (answer: string) => string | undefined

/** Rejects an empty answer. */
export const required: Check = (answer) =>
  answer.trim() === '' ? 'A value is required.' : undefined

/** Creates the questions of a terminal. */
export function questions({
  input,
  messages,
}: Pick<ProgramEnvironment, 'input' | 'messages'>): Questions {
  // Without this, a question would never end after the end of the input.
  const ended = new AbortController()
  if (input.readableEnded) ended.abort()
  else input.once('end', () => ended.abort())
  input.on('keypress', (_: unknown, key: { readonly ctrl?: boolean; readonly name?: string }) => {
    if (key.ctrl === true && key.name === 'd') ended.abort()
  })
  const common = { input, output: messages, signal: ended.signal }
  return {
    async choose(message, choices) {
      const options = choices.map(({ value, label = value, hint }) => ({
        value,
        label: printable(label),
        ...(hint === undefined ? {} : { hint: printable(hint) }),
      }))
      return answered(await clack.select({ ...common, message, options, maxItems: 12 }))
    },
    async text(message, hint, check = () => undefined) {
      const validate = (value: string | undefined): string | undefined => check(value ?? '')
      const given = await clack.text({ ...common, message, placeholder: hint, validate })
      // Clack returns undefined for an empty line, although its types say otherwise.
      const answer = answered(given as string | undefined | symbol)
      return answer === undefined || answer === '' ? undefined : answer
    },
    async secret(message) {
      const validate = (value: string | undefined): string | undefined => required(value ?? '')
      return answered(await clack.password({ ...common, message, validate }))
    },
    async confirm(message) {
      const given = clack.confirm({ ...common, message: printable(message), initialValue: false })
      return answered(await given)
    },
  }
}

function answered<Answer>(answer: Answer): Exclude<Answer, symbol> {
  if (typeof answer === 'symbol') throw new CommandError('Cancelled: nothing was changed.')
  return answer as Exclude<Answer, symbol>
}
