export { apiKeys, exportProvider, importProvider, type ApiKeyProvider } from './keys/api-key.ts'
export type { ApiKeyOptions, ApiKeyProperties, ApiKeyRecord } from './keys/api-key-record.ts'
export { httpBasic, type HttpBasicOptions } from './basic/http-basic.ts'
export type { PasswordCost } from './basic/password.ts'
