/** Why there are no credentials. Its message may be shown: it has nothing of a secret or of a response. */
export class CredentialsError extends Error {}

// Of RFC 6749. Any other code may be data of the other service.
const knownErrors = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
])

/** Returns the error for a response of a token endpoint that has no usable token. `cause` says what is wrong with it. */
export function tokenError(status: number, cause: unknown): CredentialsError {
  const { error, code } = Object(cause) as { readonly error?: unknown; readonly code?: unknown }
  const known = typeof error === 'string' && knownErrors.has(error) ? error : undefined
  const isSuccess = status >= 200 && status <= 299
  const reason = known ?? (isSuccess && typeof code === 'string' ? code : undefined)
  const responded = `the token endpoint responded ${status}`
  const what = isSuccess ? `${responded} without a token that can be used` : responded
  return new CredentialsError(reason === undefined ? what : `${what} (${reason})`, { cause })
}
