import type { Delivery } from '../consume/outbox/delivery.ts'
import {
  requiredArgument,
  wholeOf,
  type Command,
  type CommandContext,
  type Given,
} from './command.ts'
import { UsageError } from './command-error.ts'
import type { Column } from './table.ts'
import { printable } from './text.ts'

/** The commands `rowgate outbox ...`: calls to other services that were not made yet, or failed. */
export const outboxCommands: readonly Command[] = [
  {
    name: 'outbox list',
    description: 'List the deliveries of the outbox',
    options: [
      {
        name: 'state',
        value: 'state',
        description: 'Only behind, waiting, sending, delivered or dead ones',
      },
      {
        name: 'limit',
        value: 'number',
        description: 'The maximum number of deliveries (default: 100)',
      },
    ],
    example: 'outbox list --state dead',
    run: listDeliveries,
  },
  {
    name: 'outbox retry',
    argument: 'id',
    description: 'Send a dead or waiting delivery as soon as possible',
    options: [],
    example: 'outbox retry 019ab0c4-1f2e-7000-8000-5a1b2c3d4e5f',
    run: (given, context) => change(given, context, 'retry'),
  },
  {
    name: 'outbox drop',
    argument: 'id',
    description: 'Remove a delivery that was not sent',
    options: [],
    example: 'outbox drop 019ab0c4-1f2e-7000-8000-5a1b2c3d4e5f',
    run: (given, context) => change(given, context, 'drop'),
  },
]

const states = ['behind', 'waiting', 'sending', 'delivered', 'dead'] as const

async function listDeliveries(given: Given, context: CommandContext): Promise<void> {
  const named = given.one('state')
  const state = states.find((each) => each === named)
  if (named !== undefined && state === undefined)
    throw new UsageError(`--state must be one of ${states.join(', ')}.`)
  const number = { name: 'limit', unit: 'deliveries', minimum: 1, maximum: 10_000 }
  const limit = wholeOf(given.one('limit') ?? '100', number)
  const outbox = await context.outbox()
  const rows = await outbox.list({ limit, ...(state !== undefined && { state }) })
  context.table(columns, rows, 'No deliveries.')
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
