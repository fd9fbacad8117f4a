import * as clack from '@clack/prompts'
import { Refusal } from './refusal.ts'
import type { Surroundings } from './terminal.ts'
import { printable } from './text.ts'

/** Something to choose. */
export interface Choice {
  readonly value: string
  readonly label?: string
  readonly hint?: string
}

/** Questions on a terminal. A Refusal is thrown when they are not answered. */
export interface Questions {
  choose(message: string, choices: readonly Choice[]): Promise<string>
  /** A text; undefined for none where none is required. */
  text(message: string, hint: string, check?: Check): Promise<string | undefined>
  /** A text that is not shown. */
  secret(message: string): Promise<string>
  confirm(message: string): Promise<boolean>
}

/** What is wrong with an answer. */
export type Check = (answer: string) => string | undefined

/** Wants an answer. */
export const required: Check = (answer) =>
  answer.trim() === '' ? 'This can not be left out.' : undefined

/** Asks at this terminal. */
export function questions({
  input,
  messages,
}: Pick<Surroundings, 'input' | 'messages'>): Questions {
  // The end of the input, typed or true, would leave a question open for ever.
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
      // Clack answers undefined for an empty line, whatever its types say.
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
  if (typeof answer === 'symbol') throw new Refusal('Cancelled: nothing was changed.')
  return answer as Exclude<Answer, symbol>
}
