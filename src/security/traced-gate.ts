import { whenDone } from '../maybe-promise.ts'
import { stages, type SecurityTrace } from '../tracing.ts'
import type { Gate } from './gate.ts'

/** The same gate; each question is a trace of `rowgate:security` while somebody listens. */
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
