import { expect } from 'vitest'
import type { Observation, Service } from '../../src/entries/index.ts'
import type {
  KeyEvent,
  KeyRecord,
  KeyRequest,
  NewKey,
  RejectionReason,
} from '../../src/entries/security.ts'
import { apiKeys, type ApiKeyOptions } from '../../src/entries/security.ts'
import type { Answer } from './http-client.ts'
import { expectError } from './expectations.ts'

/** A cost of password hashes at which a test can hash a thousand times. */
export const cheapCost = { N: 2, r: 1, p: 1 } as const

/** The part of a service that a helper needs. */
export type Keeper = Pick<Service<unknown>, 'keys' | 'users'>

/** An API key provider that takes keys over plain HTTP, as the suite speaks it. */
export function plainKeys(options: Partial<ApiKeyOptions> = {}) {
  return apiKeys({
    name: 'keys',
    ...options,
    properties: { AllowInsecureHttp: true, ...options.properties },
  })
}

/** A new key for a user, who is added when there is none of that name. */
export async function newKey(
  { keys, users }: Keeper,
  request: Partial<KeyRequest> = {},
): Promise<NewKey> {
  const { user = 'maria' } = request
  if ((await users.get(user)) === undefined) await users.add({ user })
  return keys.create({ ...request, user })
}

/** The header that carries a key. */
export function withKey(key: string): Readonly<Record<string, string>> {
  return { 'X-API-Key': key }
}

/** The text of a key with one character changed. */
export function flipped(key: string, at = 5): string {
  return key.slice(0, at) + (key[at] === 'a' ? 'b' : 'a') + key.slice(at + 1)
}

/** Checks that a request was rejected with 401, and that the reason was only reported. */
export function expectUnknown(
  contract: { readonly reports: () => readonly Observation[] },
  answer: Answer,
  reason: RejectionReason,
  told: object = {},
): void {
  expectError(answer, 401, 'Valid credentials are required.')
  expect(answer.headers).toHaveProperty('www-authenticate')
  expect(contract.reports()).toMatchObject([{ type: 'credential-rejected', reason, ...told }])
}

/** The record of a key, once it fits. */
export async function recordOnce(
  { keys }: Keeper,
  keyId: string,
  fits: (record: KeyRecord) => boolean,
): Promise<KeyRecord> {
  const find = async () => (await keys.list()).find((record) => record.keyId === keyId)
  return (await once(find, (record) => record !== undefined && fits(record))) as KeyRecord
}

/** What happened to a key, once it fits. */
export function eventsOnce(
  { keys }: Keeper,
  keyId: string,
  fits: (events: readonly KeyEvent[]) => boolean,
): Promise<readonly KeyEvent[]> {
  return once(() => keys.audit({ keyId }), fits)
}

async function once<Value>(
  read: () => Promise<Value>,
  fits: (value: Value) => boolean,
): Promise<Value> {
  let value = await read()
  await expect.poll(async () => fits((value = await read())), { interval: 5 }).toBe(true)
  return value
}
