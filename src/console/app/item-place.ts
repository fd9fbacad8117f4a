import type { ComponentChildren, FunctionComponent } from 'preact'
import type { Item } from './api.ts'
import type { Collection } from './collections.ts'
import { hashOf, itemHash } from './route.ts'

/** Where the screens of a collection are. */
export interface ItemPlace {
  /** The hash of the list. */
  readonly list: string
  /** What the list is called above an item. */
  readonly name: string
  /** Returns the hash of an item. */
  readonly itemOf: (key: readonly string[]) => string
}

/** What an input of its own gets. */
export interface InputOptions {
  readonly id: string
  readonly text: string
  readonly change: (text: string) => void
  readonly isInvalid: boolean
  readonly describedBy: string | undefined
}

/** Inputs of their own by field. */
export type Inputs = Readonly<Record<string, FunctionComponent<InputOptions>>>

/** What the screens of an item of administration have of their own. */
export interface ItemVariant {
  /** Returns the title of the screen. Default: the key, and the field that names an item. */
  readonly titleOf?: (item: Item) => string
  readonly at?: ItemPlace
  readonly inputs?: Inputs
  /** The fields that are not shown. */
  readonly without?: readonly string[]
  /** Returns what is below the form. */
  readonly below?: (item: Item) => ComponentChildren
  /** What the button says that deletes an item, and the question before. */
  readonly remove?: { readonly label: string; readonly question: string; readonly text: string }
}

/** Returns where the screens of the data of a collection are. */
export function dataPlace({ application, name }: Collection): ItemPlace {
  return {
    list: hashOf(['data', application, name]),
    name: `${application} / ${name}`,
    itemOf: (key) => itemHash('item', [application, name], key),
  }
}

/** Returns where the screens of a part of administration are. */
export function adminPlace(screen: string, name: string): ItemPlace {
  return { list: hashOf([screen]), name, itemOf: (key) => itemHash(screen, [], key) }
}
