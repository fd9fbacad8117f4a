export {
  testBuildQueue,
  type QueueConformanceOptions,
  type QueueSubject,
} from '../conformance/build-queue.ts'
export { credentials, type CredentialsOptions } from '../conformance/credentials.ts'
export {
  testSecurityProvider,
  type SecurityConformanceOptions,
} from '../conformance/security-provider.ts'
export type { SecuritySubject, ValidRequest } from '../conformance/security-subject.ts'
export { testStorageAdapter, type ConformanceOptions } from '../conformance/storage-adapter.ts'
