import type { ApplicationDefinitions } from '../definition/application.ts'
import type { Mistake } from '../checks/mistakes.ts'
import type { KeyProvider, SecurityProvider } from './provider.ts'

/** Returns the mistakes of the providers of a service: missing members, and names or priorities used twice. */
export function providerMistakes(
  providers: readonly SecurityProvider[],
  applications: ApplicationDefinitions,
): readonly Mistake[] {
  const mistakes: Mistake[] = []
  const names = new Set<string>()
  const priorities = new Map<number, string>()
  const identifiers = new Map<string, string>()
  for (const provider of providers) {
    const { name, priority, parameters = [] } = provider
    const place = `options.security.${name}`
    mistakes.push(...missingMembers(provider))
    if (names.has(name)) {
      const advice = 'is the name of another provider too; rename one of them'
      mistakes.push({ place: `${place}.name`, advice })
    }
    names.add(name)
    const other = priorities.get(priority)
    if (!Number.isSafeInteger(priority)) {
      mistakes.push({ place: `${place}.priority`, advice: 'must be an integer' })
    } else if (other !== undefined) {
      const advice = `${other} has priority ${priority} too; give one of them another priority`
      mistakes.push({ place: `${place}.priority`, advice })
    }
    priorities.set(priority, name)
    const { identifier } = provider as Partial<KeyProvider>
    if (identifier !== undefined) {
      const owner = identifiers.get(identifier)
      const advice = `${owner ?? ''} has this identifier too; each key belongs to one provider, so change one of them`
      if (owner !== undefined) mistakes.push({ place: `${place}.identifier`, advice })
      identifiers.set(identifier, name)
    }
    for (const parameter of parameters) {
      const field = fieldNamed(parameter, applications)
      if (field === undefined) continue
      const advice = `${parameter} is a field of ${field}; choose another name for the parameter`
      mistakes.push({ place: `${place}.parameters`, advice })
    }
  }
  return mistakes
}

// Application code may be JavaScript, without type checks.
function missingMembers(provider: Partial<SecurityProvider>): readonly Mistake[] {
  const { name, challenge, find } = provider
  const place = isText(name) ? `options.security.${name}` : 'options.security'
  return [
    ...(isText(name) ? [] : [{ place, advice: 'a provider has no name; give it a string' }]),
    ...(isText(challenge) && /^[\t\x20-\x7e]+$/.test(challenge)
      ? []
      : [{ place, advice: 'needs a challenge for WWW-Authenticate, such as Bearer' }]),
    ...(typeof find === 'function'
      ? []
      : [{ place, advice: 'needs the function find, which returns the credential of a request' }]),
  ]
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function fieldNamed(parameter: string, applications: ApplicationDefinitions): string | undefined {
  for (const [application, { collections }] of Object.entries(applications)) {
    for (const [name, { fields }] of Object.entries(collections)) {
      if (Object.hasOwn(fields, parameter)) return `${application}/${name}`
    }
  }
  return undefined
}
