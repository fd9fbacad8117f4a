import type { Delivery } from '../consume/outbox/delivery.ts'
import { indentedJson } from '../protocol/json-text.ts'
import { requiredArgument, wholeOf, type CommandContext, type Given } from './command.ts'
import { CommandError, UsageError } from './command-error.ts'
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
export async function retryDelivery(given: Given, context: CommandContext): Promise<void> {
  const names = ['state', 'endpoint', 'since']
  if (!names.some((name) => given.has(name))) {
    if (given.argument === undefined)
      throw new UsageError('Give the id of a delivery, or --state, --endpoint or --since.')
    await change(given, context, 'retry')
    return
  }
  if (given.argument !== undefined)
    throw new UsageError('Give either the id of a delivery, or --state, --endpoint and --since.')
  const state = given.one('state') === 'waiting' ? 'waiting' : 'dead'
  const since = timeOf(given.one('since'))
  const outbox = await context.outbox()
  const retried = await outbox.retry({ state, endpoint: given.one('endpoint'), since })
  context.result({ retried }, () =>
    retried === 1 ? '1 delivery is waiting.' : `${retried} deliveries are waiting.`,
  )
}

/** Returns the value of `--since`. Throws a UsageError unless it is an instant or a date. */
function timeOf(text: string | undefined): string | undefined {
  const isTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,3})?Z)?$/.test(text ?? '')
  if (text === undefined || (isTime && !Number.isNaN(Date.parse(text)))) return text
  throw new UsageError('--since must be a time such as 2026-11-26T08:00:00Z, or a date.')
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
