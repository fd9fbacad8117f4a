import { createDeployment, type Builder } from '../../../src/entries/deployment.ts'
import { defineCollection, integer, text } from '../../../src/entries/index.ts'
import { environment, solutions } from '../../deployment/solutions.ts'

interface Balanced {
  balance?: number | null
  step?: number | null
}

const events = {
  Update: {
    // Adds `step` to what is stored: an update that is lost, or runs twice, shows in the balance.
    before: ({ item, stored }: { readonly item: Balanced; readonly stored: Balanced }): void => {
      item.balance = (stored.balance ?? 0) + (item.step ?? 0)
      item.step = null
    },
  },
}

/** What the instances publish: entries that one client writes, and counters that all of them write. */
export const applications = {
  app: {
    collections: {
      entries: defineCollection(
        {
          key: 'entryId',
          fields: {
            entryId: text({ maxLength: 40 }),
            owner: text({ maxLength: 40 }),
            balance: integer(),
            step: integer(),
          },
        },
        { events },
      ),
      counters: defineCollection(
        {
          key: 'counterId',
          fields: { counterId: text({ maxLength: 40 }), balance: integer(), step: integer() },
        },
        { events },
      ),
    },
  },
}

/** Deployment as every instance opens it. */
export function deploymentOf(builder: Builder, options: { lease: number; workers: number }) {
  return createDeployment({ solutions, environment, builder, pollInterval: 100, ...options })
}
