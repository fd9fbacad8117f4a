import type { Observation } from '../../observation/reports.ts'
import type { ServiceHost } from '../../service-part.ts'
import type { UnfitRow } from '../../storage/fitting-rows.ts'
import { table } from '../../storage/table.ts'
import { reportOnce } from '../../work/report-once.ts'
import { outboxCollections } from './collections.ts'
import { deliveryOf, type DeliveryState } from './delivery.ts'
import { arrangeLane } from './lanes.ts'

const { deliveries } = outboxCollections
const writing = { mode: 'write', brief: true } as const

/** Makes deliveries dead whose stored values do not fit their fields, so that workers do not try them again. */
export type BuryUnfit = (state: DeliveryState, found: readonly UnfitRow[]) => Promise<void>

/** Creates the function. It never rejects: what it can't change, it reports once. */
export function buryUnfitDeliveries(
  { storage, now, report }: Pick<ServiceHost, 'storage' | 'now' | 'report'>,
  lease: number,
): BuryUnfit {
  const reportUnchanged = reportOnce((error) => {
    report({ type: 'outbox-unavailable', error })
  })

  async function bury(state: DeliveryState, { key, error }: UnfitRow): Promise<void> {
    if (key === undefined) {
      reportUnchanged(error)
      return
    }
    const ended = now().toISOString()
    try {
      const dead = await storage.transaction(writing, async (transaction) => {
        // What workers count, so that the row can be read again.
        const counts = { attempt: 0, failures: 0, lost: 0, holdsLane: false }
        const changes = { ...counts, state: 'dead', due: ended, ended, error: reason }
        const row = await table(transaction, deliveries).change({ ...key, state }, changes)
        if (row === undefined) return undefined
        return deliveryOf(row)
      })
      if (dead === undefined) return
      report(deadReport(dead, error))
      const { lane } = dead
      if (lane !== null) await arrangeLane(storage, lane, { now: ended, lease })
    } catch (cause) {
      reportUnchanged(new Error(`${error.message} The delivery can not be changed.`, { cause }))
    }
  }

  return async (state, found) => {
    for (const each of found) await bury(state, each)
  }
}

const reason = 'Values of the stored delivery do not fit their fields.'

function deadReport(
  { id, endpoint, lane }: ReturnType<typeof deliveryOf>,
  error: Error,
): Observation {
  return { type: 'delivery-dead', deliveryId: id, endpoint, lane, error }
}
