const office = ['Office'] as const

/** A field that the office sees, and nobody else. */
export const officeReads = { readableBy: office } as const

/** A collection that everybody may read, and the office alone may change. */
export const officeChanges = {
  eventRoles: { Insert: office, Update: office, Delete: office },
} as const
