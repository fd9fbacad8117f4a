import type { Failure } from './rules.ts'

export const notSaved = 'The changes could not be saved.'

export function pageReply(items: unknown[], count: number | null = null) {
  return { items, count, message: null, validations: [], status: 200 }
}

export function itemReply(item: unknown) {
  return { item, message: null, validations: [], status: 200 }
}

export function errorReply(status: number, message: string) {
  return { message, validations: [], status }
}

export function failedReply(item: unknown, validations: Failure[]) {
  return { item, message: notSaved, validations, status: 200 }
}

export const unauthorized = errorReply(401, 'Valid credentials are required.')

export function limitOf(text: string | null | undefined): number {
  const limit = Number(text ?? 10)
  return Number.isInteger(limit) && limit >= 0 ? Math.min(limit, 100) : 10
}

export function offsetOf(text: string | null | undefined): number {
  const offset = Number(text ?? 0)
  return Number.isInteger(offset) && offset >= 0 ? offset : 0
}

/** Returns the texts before and after the part of a reply that is written as `mark`. */
export function around(reply: unknown, part: unknown): readonly [before: string, after: string] {
  const [before = '', after = ''] = JSON.stringify(reply).split(JSON.stringify(part))
  return [before, after]
}
