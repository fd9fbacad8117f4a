import { memoryStorage } from 'rowgate'

/** Where the items are stored: in memory, until the process ends. */
export const storage = memoryStorage()
