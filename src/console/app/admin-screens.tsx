import type { FunctionComponent } from 'preact'
import type { Collection } from './collections.ts'

/** A screen of the part for administrators. */
export interface AdminScreen {
  /** The first segment of its route. */
  readonly name: string
  readonly title: string
  readonly about: string
  /** Returns whether the caller may use it. */
  readonly isShown: (collections: ReadonlyMap<string, Collection>) => boolean
  readonly Screen: FunctionComponent<{
    readonly segments: readonly string[]
    readonly query: URLSearchParams
  }>
}

/** The screens of the part for administrators. */
export const adminScreens: readonly AdminScreen[] = []
