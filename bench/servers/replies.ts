import type { Failure } from './rules.ts'

export const notSaved = 'The changes could not be saved.'

export function pageReply(items: unknown[]) {
  return { items, count: null, message: null, validations: [], status: 200 }
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
