import type { ApiKeyProvider } from './api-key.ts'
import { completeRecord, type ApiKeyOptions, type ApiKeyRecord } from './api-key-record.ts'

/** The configuration record of an API key provider (section 2.6), to be kept as JSON. It holds no keys. */
export function exportProvider({ record }: ApiKeyProvider): ApiKeyRecord {
  return { ...completeRecord(record, 'exportProvider'), properties: { ...record.properties } }
}

/**
 * The options of an exported provider, for `apiKeys`. It comes disabled and with a new identifier: look
 * it over, keep the identifier with it and enable it. Throws a TypeError that lists every mistake.
 */
export function importProvider(json: unknown): ApiKeyOptions & ApiKeyRecord {
  const record = completeRecord(json, 'importProvider')
  return { ...record, enabled: false, identifier: crypto.randomUUID() }
}
