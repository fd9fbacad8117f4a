export { apiKeys, exportProvider, importProvider, type ApiKeyProvider } from './keys/api-key.ts'
export type { ApiKeyOptions, ApiKeyProperties, ApiKeyRecord } from './keys/api-key-record.ts'
export type { AttemptLimits } from './basic/attempts.ts'
export { httpBasic, type HttpBasicOptions } from './basic/http-basic.ts'
export type { PasswordCost } from './basic/password.ts'
export type { Attributes } from '../definition/principal.ts'
export type { RejectionReason } from '../observation/reports.ts'
export type { Credentials } from '../request/request.ts'
export { securityApplications } from './collections.ts'
export type {
  ChosenKey,
  KeyEvent,
  KeyLookup,
  KeyRecord,
  KeyRequest,
  Keyring,
  NewKey,
  Rotation,
} from './keys/key-store.ts'
export type { Limiter, Limits } from './limiter.ts'
export type {
  AuthenticationType,
  Credential,
  KeyProvider,
  OpenAccess,
  PasswordProvider,
  Rejected,
  SecurityContext,
  SecurityProvider,
} from './provider.ts'
export type {
  Account,
  FindUser,
  NewUser,
  User,
  UserChanges,
  UserLookup,
  Users,
} from './users/user-store.ts'
