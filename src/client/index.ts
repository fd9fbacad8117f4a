export { createClient, type Client } from './client.ts'
export type {
  CallOptions,
  ClientCollection,
  ClientSaveResult,
  PageFieldName,
  PageItem,
  PageOptions,
  PortableCollection,
  ResponseItem,
  SaveCallOptions,
  SelectedName,
} from './calls.ts'
export type { BasicCredential, ClientFetch, ClientOptions, Given } from './options.ts'
export { RequestError } from './request-error.ts'
export type { RequestErrorCode, RequestErrorOptions } from './request-error.ts'
export type {
  BuildProgress,
  BuildRequest,
  BuildStatus,
  FullRelease,
  ListedRelease,
  QueuedRelease,
  ReleaseOptions,
  Releases,
  WaitOptions,
} from './releases.ts'
export { attempt, RejectedError, saved, type Attempt } from './results.ts'
