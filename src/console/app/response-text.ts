import { withWait } from './waiting.ts'

/**
 * Returns what a rejection says for people: its findings or its message, and else its status. A proxy may have responded, so
 * the body can be anything.
 */
export function responseText(body: unknown, { status, headers }: Response): string {
  const { message, validations } = (body ?? {}) as Readonly<Record<string, unknown>>
  const findings: readonly unknown[] = Array.isArray(validations) ? validations : []
  const found = findings.map((one) => (one as { readonly message?: unknown } | null)?.message)
  const text = [found.filter(isText).join(' '), message].find(isText)
  return withWait(text ?? `The service responded ${status}.`, headers)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
