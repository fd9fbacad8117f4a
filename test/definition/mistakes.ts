import { expect } from 'vitest'
import {
  createService,
  memoryStorage,
  openAccess,
  type ApplicationDefinitions,
  type ServiceOptions,
} from '../../src/entries/index.ts'

/** A definition without mistakes. */
export const sound = { key: 'id', fields: { id: { type: 'integer' }, name: { type: 'text' } } }

/** The mistakes of a definition as the error lists them, with places relative to the collection. */
export function mistakesIn(definition: unknown, options: object = {}): readonly string[] {
  const applications = { app: { collections: { things: definition } } }
  try {
    createService({
      applications,
      storage: memoryStorage(),
      security: openAccess(),
      ...options,
    } as unknown as ServiceOptions<ApplicationDefinitions>)
    return []
  } catch (error_) {
    expect(error_).toBeInstanceOf(TypeError)
    return (error_ as TypeError).message
      .split('\n')
      .slice(1)
      .map((line) => line.replace('  - ', '').replace('applications.app.collections.things.', ''))
  }
}
