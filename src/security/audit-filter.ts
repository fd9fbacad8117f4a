import * as z from 'zod/mini'
import { wholeNumber } from '../checks/option-shapes.ts'
import { accepted, flag } from './check-call.ts'

/** A part of a list. */
export interface ListPage {
  /** The maximum number of entries. Default: all. */
  readonly limit?: number | undefined
  /** The number of entries that are skipped. Default 0. */
  readonly offset?: number | undefined
}

/** The members of {@link ListPage}, as a shape. */
export const pageMembers = {
  limit: z.optional(wholeNumber(0)),
  offset: z.optional(wholeNumber(0)),
}

/** Which events of the audit trail are read. */
export interface AuditFilter extends ListPage {
  /** The user, or the user of the key. */
  readonly user?: string | undefined
  /** Who made the change. */
  readonly actor?: string | undefined
  /** Whether the latest event is the first. Default: the oldest is. */
  readonly latestFirst?: boolean | undefined
}

const name = accepted<string>(
  (value) => typeof value === 'string' && value !== '',
  'must be a non-empty string',
)

/** The members of {@link AuditFilter}, as a shape. */
export const auditMembers = {
  ...pageMembers,
  user: z.optional(name),
  actor: z.optional(name),
  latestFirst: z.optional(flag),
}

/** What an event has changed. Values are left out, except for roles. */
export interface RecordedChanges {
  readonly changed: readonly string[]
  readonly addedRoles: readonly string[]
  readonly removedRoles: readonly string[]
}
