import { CredentialsError } from './credentials-error.ts'

/** A secret, or a function that returns it; the function is called once for each request. */
export type Secret = string | (() => string | Promise<string>)

/** Returns a secret. Rejects if it is empty or is not a string. */
export async function readSecret(secret: Secret): Promise<string> {
  const value: unknown = typeof secret === 'function' ? await secret() : secret
  if (typeof value !== 'string' || value === '')
    throw new CredentialsError(`a credential is ${value === '' ? 'empty' : 'not a string'}`)
  return value
}
