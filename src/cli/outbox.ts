import type { Delivery } from '../consume/outbox/delivery.ts'
import { indentedJson } from '../protocol/json-text.ts'
import { requiredArgument, wholeOf, type CommandContext, type Given } from './command.ts'
import { CommandError } from './command-error.ts'
import type { Column } from './table.ts'
import { printable } from './text.ts'

/** Runs `rowgate outbox list`. */
export async function listDeliveries(given: Given, context: CommandContext): Promise<void> {
  const state = given.one('state') as Delivery['state'] | undefined
  const number = { name: 'limit', unit: 'deliveries', minimum: 1, maximum: 10_000 }
  const limit = wholeOf(given.one('limit') ?? '100', number)
  const outbox = await context.outbox()
  const rows = await outbox.list({ limit, ...(state !== undefined && { state }) })
  context.table(columns, rows, 'No deliveries.')
}

/** Runs `rowgate outbox show`. */
export async function showDelivery(given: Given, context: CommandContext): Promise<void> {
  const id = requiredArgument(given, 'id')
  const delivery = await (await context.outbox()).get(id)
  if (delivery === undefined) throw new CommandError(`There is no delivery ${printable(id)}.`)
  context.result(delivery, () => {
    const { input, row, response, ...facts } = delivery
    const lines = Object.entries(facts).map(
      ([name, value]) => `${`${name}:`.padEnd(10)} ${printable(String(value ?? '-'))}`,
    )
    const parts = Object.entries({ input, row, response }).filter(([, value]) => value !== null)
    return [...lines, ...parts.map(([name, value]) => `${name}:\n${indentedJson(value)}`)].join(
      '\n',
    )
  })
}

/** Runs `rowgate outbox retry`. */
export function retryDelivery(given: Given, context: CommandContext): Promise<void> {
  return change(given, context, 'retry')
}

/** Runs `rowgate outbox drop`. */
export function dropDelivery(given: Given, context: CommandContext): Promise<void> {
  return change(given, context, 'drop')
}

async function change(
  given: Given,
  context: CommandContext,
  action: 'retry' | 'drop',
): Promise<void> {
  const id = requiredArgument(given, 'id')
  const outbox = await context.outbox()
  const delivery = await outbox[action](id)
  const done = action === 'drop' ? 'was removed' : `is ${delivery.state}`
  context.result(delivery, () => `The delivery ${printable(delivery.id)} ${done}.`)
}

const columns: readonly Column<Delivery>[] = [
  { title: 'ID', text: ({ id }) => id, whole: true },
  { title: 'STATE', text: ({ state }) => state, whole: true },
  { title: 'ENDPOINT', text: ({ endpoint }) => endpoint },
  { title: 'LANE', text: ({ lane }) => lane ?? '-' },
  { title: 'FAILURES', text: ({ failures }) => String(failures) },
  { title: 'DUE OR ENDED', text: ({ due, ended }) => ended ?? due, spare: true },
  { title: 'ERROR', text: ({ error }) => error ?? '-', spare: true },
]
