import type { ApplicationDefinitions } from '../definition/application.ts'
import type { Mistake } from '../definition/mistake.ts'
import type { SecurityProvider } from './provider.ts'

/** What is wrong with the providers of a service together: D43, and names that collide. */
export function providerMistakes(
  providers: readonly SecurityProvider[],
  applications: ApplicationDefinitions,
): readonly Mistake[] {
  const mistakes: Mistake[] = []
  const names = new Set<string>()
  const priorities = new Map<number, string>()
  for (const { name, priority, parameters = [] } of providers) {
    const place = `options.security.${name}`
    if (names.has(name)) {
      mistakes.push({ place: `${place}.name`, advice: 'another provider has this name already' })
    }
    names.add(name)
    const other = priorities.get(priority)
    if (!Number.isSafeInteger(priority)) {
      mistakes.push({ place: `${place}.priority`, advice: 'must be a whole number' })
    } else if (other !== undefined) {
      const advice = `${other} has priority ${priority} already; give one of them another`
      mistakes.push({ place: `${place}.priority`, advice })
    }
    priorities.set(priority, name)
    for (const parameter of parameters) {
      const field = fieldNamed(parameter, applications)
      if (field === undefined) continue
      const advice = `${parameter} is a field of ${field}; choose another name for the parameter`
      mistakes.push({ place: `${place}.parameters`, advice })
    }
  }
  return mistakes
}

function fieldNamed(parameter: string, applications: ApplicationDefinitions): string | undefined {
  for (const [application, { collections }] of Object.entries(applications)) {
    for (const [name, { fields }] of Object.entries(collections)) {
      if (Object.hasOwn(fields, parameter)) return `${application}/${name}`
    }
  }
  return undefined
}
