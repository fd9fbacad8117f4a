import type { Report } from '../observation/reports.ts'
import type { ApplicationDefinitions } from './application.ts'

type Risk = 'super-linear' | 'not-analyzed'

type Detector = (pattern: string) => Risk | undefined

// Longer than patterns that people write, and short enough to parse quickly.
const maxAnalyzedLength = 1_000
// The limit of steps makes reports the same on every machine; the timeout bounds the slowest patterns.
const effort = { unicode: true, maxScore: 20, maxSteps: 1_000, timeout: 1_000 }

/**
 * Reports the patterns that can block the process: those without a maximum length, and those whose time
 * may grow faster than the length of the string. Loads the detector only if there is a pattern. Never
 * rejects.
 */
export async function reportPatterns(
  applications: ApplicationDefinitions,
  report: Report,
): Promise<void> {
  const fields = patternsOf(applications)
  if (fields.length === 0) return
  for (const { isBounded, ...field } of fields) {
    if (isBounded) continue
    report({ type: 'pattern-at-risk', ...field, reason: 'no-maximum-length' })
  }
  const detect = await loadDetector()
  const risks = new Map<string, Risk | undefined>()
  for (const { isBounded: _, ...field } of fields) {
    const { pattern } = field
    if (!risks.has(pattern)) risks.set(pattern, riskOf(pattern, detect))
    const reason = risks.get(pattern)
    if (reason !== undefined) report({ type: 'pattern-at-risk', ...field, reason })
  }
}

function patternsOf(applications: ApplicationDefinitions) {
  return Object.entries(applications).flatMap(([application, { collections }]) =>
    Object.entries(collections).flatMap(([collection, { fields }]) =>
      Object.entries(fields).flatMap(([field, declared]) =>
        declared.type !== 'text' || declared.pattern === undefined
          ? []
          : [
              {
                application,
                collection,
                field,
                pattern: declared.pattern,
                isBounded: declared.maxLength !== undefined,
              },
            ],
      ),
    ),
  )
}

function riskOf(pattern: string, detect: Detector | undefined): Risk | undefined {
  if (detect === undefined || pattern.length > maxAnalyzedLength) return 'not-analyzed'
  try {
    return detect(pattern)
  } catch {
    return 'not-analyzed'
  }
}

async function loadDetector(): Promise<Detector | undefined> {
  try {
    const { isSafePattern } = await import('redos-detector')
    // A pattern whose analysis reaches a limit counts as super-linear.
    return (pattern) =>
      isSafePattern(withoutNames(pattern), effort).safe ? undefined : 'super-linear'
  } catch {
    return undefined
  }
}

// The detector does not support named groups. Names do not affect the time.
function withoutNames(pattern: string): string {
  return pattern.replaceAll(/\(\?<(?![=!])[^>]*>/g, '(')
}
