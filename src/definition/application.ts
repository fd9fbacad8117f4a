import type { CollectionDefinition } from './collection.ts'

/** An application: collections under one endpoint name. */
export interface ApplicationDefinition {
  /** The collections by endpoint name. */
  readonly collections: Readonly<Record<string, CollectionDefinition>>
  /** The roles that may use the application: a caller needs one of them. Default: every caller. */
  readonly roles?: readonly string[]
  readonly description?: string
}

/** The applications of a service by endpoint name. */
export type ApplicationDefinitions = Readonly<Record<string, ApplicationDefinition>>
