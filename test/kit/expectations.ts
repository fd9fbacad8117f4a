import { expect } from 'vitest'
import type { Answer, WireItem } from './http-client.ts'

/** Checks a success and returns its item. */
export function itemIn(answer: Answer): WireItem {
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body.item).toBeDefined()
  return answer.body.item ?? {}
}

/** Checks a success and returns its page. */
export function itemsIn(answer: Answer): readonly WireItem[] {
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body.items).toBeDefined()
  return answer.body.items ?? []
}

/** Checks a success and returns the keys of its page. */
export function keysIn(answer: Answer, key = 'customerId'): readonly unknown[] {
  return itemsIn(answer).map((item) => item[key])
}

/** Returns the answer to a request that takes less than a time. A busy machine may delay one, so it is sent up to ten times. */
export async function answerWithin(limit: number, ask: () => Promise<Answer>): Promise<Answer> {
  let answer = await ask()
  for (let sent = 1; sent < 10 && answer.milliseconds >= limit; sent++) answer = await ask()
  expect(answer.milliseconds).toBeLessThan(limit)
  return answer
}

/** Checks an error response: its status, its form and its message. */
export function expectError(answer: Answer, status: number, message?: string | RegExp): void {
  expect(answer.status, answer.text).toBe(status)
  expect(answer.body).toEqual({ message: answer.body.message, validations: [], status })
  if (message !== undefined) expect(answer.body.message).toMatch(message)
}

/** Checks a failed save of exactly these fields, one entry each. */
export function expectInvalid(answer: Answer, fields: readonly string[], echo?: WireItem): void {
  expect(answer.status, answer.text).toBe(400)
  expect(answer.body).toMatchObject({ message: 'The changes could not be saved.', status: 200 })
  const { validations, item } = answer.body
  expect(validations.map((entry) => entry.field)).toEqual(fields)
  expect(validations.every((entry) => entry.severity === 'error')).toBe(true)
  expect(item).toBeDefined()
  if (echo !== undefined) expect(item).toEqual(echo)
}

/** Checks that only warnings hold a request back, and returns their ids. */
export function idsOfWarnings(answer: Answer): readonly string[] {
  expect(answer.status, answer.text).toBe(400)
  expect(answer.body.status).toBe(400)
  const { validations } = answer.body
  expect(validations.length).toBeGreaterThan(0)
  expect(validations.every((entry) => entry.severity === 'warning')).toBe(true)
  return validations.map((entry) => entry.validationId ?? '')
}

/** The header that confirms warnings. */
export function ignoring(...ids: readonly string[]): Readonly<Record<string, string>> {
  return { 'X-Svc-Ignore-Warnings': ids.map((id) => `"${id}"`).join(', ') }
}

/** Returns the error that synchronous code throws. */
export function caught(run: () => unknown): Error {
  try {
    run()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}
