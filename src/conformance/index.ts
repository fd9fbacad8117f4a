export { credentials, type RequestParts } from './credentials.ts'
export { testSecurityProvider, type SecurityConformanceOptions } from './security-provider.ts'
export type { SecuritySubject, ValidRequest } from './security-subject.ts'
export { testStorageAdapter, type ConformanceOptions } from './storage-adapter.ts'
