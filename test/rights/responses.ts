import { expect } from 'vitest'
import type { Response } from '../kit/service.ts'

/** The parts that must be equal if two responses must be indistinguishable. */
export function bytesOf({ status, headers, text }: Response): string {
  return JSON.stringify([status, headers, text])
}

/** Checks the response to a caller who lacks the right. */
export function expectForbidden(response: Response): void {
  expect(response.text).toBe(
    '{"message":"You do not have the right to do this.","validations":[],"status":403}',
  )
  expect(response.status).toBe(403)
}

/** Checks a success and returns its item. */
export function itemIn(response: Response): Readonly<Record<string, unknown>> {
  expect(response.status, response.text).toBe(200)
  expect(response.body.item).toBeDefined()
  return response.body.item ?? {}
}

/** Checks a success and returns the values of one field of its page. */
export function valuesIn(response: Response, field = 'id'): readonly unknown[] {
  expect(response.status, response.text).toBe(200)
  expect(response.body.items).toBeDefined()
  return (response.body.items ?? []).map((item) => item[field])
}
