const office = ['Office'] as const

/** A field that only the office can read and set. */
export const officeReads = { readableBy: office } as const

/** A collection that every user can read and only the office can change. */
export const officeChanges = {
  eventRoles: { Insert: office, Update: office, Delete: office },
} as const
