import type { CollectionDefinition } from './collection.ts'

/** An application: collections under one endpoint name (section 2.3). */
export interface ApplicationDefinition {
  /** The collections by endpoint name. */
  readonly collections: Readonly<Record<string, CollectionDefinition>>
  /** The roles that may use the application: a caller needs one of them. Default: everybody (D45). */
  readonly roles?: readonly string[]
  readonly description?: string
}

/** The applications of a service by endpoint name. */
export type ApplicationDefinitions = Readonly<Record<string, ApplicationDefinition>>
