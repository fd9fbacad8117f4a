import type { ServiceHost } from '../../service-part.ts'
import { endUnfitJobs, type EndUnfit } from '../../work/unfit-jobs.ts'
import type { DeliveryState } from './delivery.ts'
import { deliveryJobs } from './delivery-store.ts'
import { arrangeLane } from './lanes.ts'

const fresh = { attempt: 0, failures: 0, lost: 0, holdsLane: false } as const
const reason = 'Values of the stored delivery do not fit their fields.'

/** Returns the function that makes deliveries dead whose stored values do not fit their fields. */
export function endUnfitDeliveries(
  { storage, now, report }: Pick<ServiceHost, 'storage' | 'now' | 'report'>,
  lease: number,
): EndUnfit<DeliveryState> {
  return endUnfitJobs({
    storage,
    jobs: deliveryJobs,
    now,
    changes: (ended) => ({ ...fresh, state: 'dead', due: ended, ended, error: reason }),
    onEnd: async ({ job, error, now: ended }) => {
      const { id, endpoint, lane } = job
      report({ type: 'delivery-dead', deliveryId: id, endpoint, lane, error })
      if (lane !== null) await arrangeLane(storage, lane, { now: ended, lease })
    },
    report: (error) => {
      report({ type: 'outbox-unavailable', error })
    },
    cannot: 'The delivery can not be changed.',
  })
}
