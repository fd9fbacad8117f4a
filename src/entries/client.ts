export { createClient, type Client } from '../client/client.ts'
export type {
  AskedConditions,
  CallOptions,
  ChangeCallOptions,
  ClientCollection,
  ClientSaveResult,
  PageFieldName,
  PageItem,
  PageOptions,
  PortableCollection,
  SaveCallOptions,
  SelectedName,
  TaggedItem,
  WithTag,
} from '../client/calls.ts'
export type {
  RelatedItem,
  RelationName,
  ResponseItem,
  WithRelated,
} from '../definition/related-items.ts'
export type { BasicCredential, ClientFetch, ClientOptions, Given } from '../client/options.ts'
export { RequestError } from '../client/request-error.ts'
export type { RequestErrorCode, RequestErrorOptions } from '../client/request-error.ts'
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
} from '../client/releases.ts'
export { attempt, RejectedError, saved, type Attempt } from '../client/results.ts'
