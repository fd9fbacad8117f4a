export { authServer } from '../security/auth-server/auth-server.ts'
export type {
  AuthServerOptions,
  PublicKeySet,
} from '../security/auth-server/auth-server-options.ts'
