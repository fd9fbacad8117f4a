import { CallError, type CallErrorCode } from '../call-error.ts'
import { privateAddress, uncheckedAddresses } from './guarded-fetch.ts'

// The codes of OpenSSL and of node:tls.
const tls =
  /^(?:ERR_(?:TLS|SSL)_|CERT_|CRL_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|ERROR_IN_C|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_EXCEEDED$|HOSTNAME_MISMATCH$|EPROTO$)/

/**
 * Returns the CallError for what a fetch threw. The message of the thrown error is dropped, since it may
 * quote the URL or the response; its code is kept.
 */
export function callErrorOf(thrown: unknown, endpoint: string): CallError {
  if (thrown instanceof CallError) return thrown
  const causes = causesOf(thrown)
  // A fetch that is given wraps the error of a body that can't be read.
  const own = causes.find((cause) => cause instanceof CallError)
  if (own !== undefined) return own
  const code = reasonCodeOf(thrown)
  if (causes.some((cause) => cause instanceof Error && cause.message === 'bad port'))
    return new CallError('FORBIDDEN_URL', endpoint, {
      detail: 'the port of the URL is not allowed',
    })
  const kind = codeOfFailure(code)
  const detail = detailOf(kind, code)
  return new CallError(kind, endpoint, { detail })
}

/** Returns the code of an error or of its causes, such as ECONNREFUSED; undefined if it has none. */
export function reasonCodeOf(thrown: unknown): string | undefined {
  return causesOf(thrown)
    .map(codeOf)
    .find((each) => each !== undefined)
}

function codeOfFailure(code: string | undefined): CallErrorCode {
  if (code === undefined) return 'CONNECTION_FAILED'
  if (code === privateAddress) return 'PRIVATE_ADDRESS'
  if (code === uncheckedAddresses) return 'FORBIDDEN_URL'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'NAME_NOT_FOUND'
  if (tls.test(code)) return 'TLS_FAILED'
  // Compressed data that can't be decompressed.
  if (/^Z_|^ERR__ERROR_FORMAT|^ERR_PADDING/.test(code)) return 'RESPONSE_NOT_JSON'
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return 'TIMEOUT'
  return 'CONNECTION_FAILED'
}

function detailOf(kind: CallErrorCode, code: string | undefined): string | undefined {
  if (code === uncheckedAddresses)
    return 'Bun cannot check addresses: set allowPrivateAddresses to true, or give a fetch'
  if (kind === 'RESPONSE_NOT_JSON') return 'the compressed response is damaged'
  if (code === undefined || (kind !== 'CONNECTION_FAILED' && kind !== 'TLS_FAILED'))
    return undefined
  return kind === 'TLS_FAILED'
    ? `the certificate or the TLS connection was not accepted (${code})`
    : `the connection failed (${code})`
}

// fetch throws a TypeError whose cause has the code; connecting to several addresses, a list of errors.
function causesOf(thrown: unknown): readonly unknown[] {
  const causes: unknown[] = []
  let next: unknown = thrown
  while (next !== undefined && next !== null && causes.length < 8) {
    causes.push(next)
    const { cause, errors } = Object(next) as {
      readonly cause?: unknown
      readonly errors?: unknown
    }
    next = cause ?? (Array.isArray(errors) ? (errors[0] as unknown) : undefined)
  }
  return causes
}

function codeOf(error: unknown): string | undefined {
  const { code } = Object(error) as { readonly code?: unknown }
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : undefined
}
