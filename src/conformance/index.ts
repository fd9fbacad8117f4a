export { testStorageAdapter } from './storage-adapter.ts'
export type { ConformanceOptions } from './storage-adapter.ts'
