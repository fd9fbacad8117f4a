import { whenDone } from '../maybe-promise.ts'
import { stages, type SecurityTrace } from '../tracing.ts'
import type { Gate } from './gate.ts'

/** Returns a gate that traces each call on the channel `rowgate:security` while the channel has subscribers. */
export function tracedGate(gate: Gate): Gate {
  return (request) => {
    if (!stages.security.isWatched) return gate(request)
    const trace: SecurityTrace = {
      secure: request.secure,
      peer: request.peer ?? null,
      provider: null,
      user: null,
      keyId: null,
    }
    return stages.security.run(trace, () =>
      whenDone(gate(request), (principal) => {
        trace.provider = principal.provider
        trace.user = principal.user
        trace.keyId = principal.keyId
        return principal
      }),
    )
  }
}
