export {
  apiKeys,
  exportProvider,
  importProvider,
  type ApiKeyProvider,
} from '../security/keys/api-key.ts'
export type {
  ApiKeyOptions,
  ApiKeyProperties,
  ApiKeyRecord,
} from '../security/keys/api-key-record.ts'
export type { AttemptLimits } from '../security/basic/attempts.ts'
export { httpBasic, type HttpBasicOptions } from '../security/basic/http-basic.ts'
export type { PasswordCost } from '../security/basic/password.ts'
export type { Attributes } from '../definition/principal.ts'
export type { RejectionReason } from '../observation/reports.ts'
export type { Credentials } from '../request/request.ts'
export type { ActorOption } from '../security/actor.ts'
export type { AuditFilter, RecordedChanges, ListPage } from '../security/audit-filter.ts'
export { securityApplications } from '../security/collections.ts'
export type {
  ChosenKey,
  KeyChanges,
  KeyEvent,
  KeyLookup,
  KeyRecord,
  KeyRequest,
  Keyring,
  NewKey,
  Rotation,
} from '../security/keys/key-store.ts'
export type { Limiter, Limits } from '../security/limiter.ts'
export type {
  AuthenticationType,
  Credential,
  KeyProvider,
  OpenAccess,
  PasswordProvider,
  Rejected,
  SecurityContext,
  SecurityProvider,
} from '../security/provider.ts'
export type {
  Account,
  FindUser,
  NewUser,
  User,
  UserChanges,
  UserEvent,
  UserLookup,
  Users,
} from '../security/users/user-store.ts'
