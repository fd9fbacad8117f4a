import type { MaybePromise } from '../../maybe-promise.ts'
import type { Attributes } from '../../definition/principal.ts'

/** A user, as the library's own collection or the host's function knows it. */
export interface User {
  readonly user: string
  /** A disabled user's credentials are rejected from the next request on (D46). */
  readonly enabled: boolean
  readonly roles: readonly string[]
  readonly attributes: Attributes
}

/** A user with the hash of its password, for providers that check passwords. */
export interface Account extends User {
  /** The salted hash; null for a user without a password. */
  readonly password: string | null
}

/** Finds users, once for each request: nothing is remembered (D46). */
export interface UserLookup {
  find(user: string): MaybePromise<Account | undefined>
}

/** Where the users come from, when it is not the library's own collection. */
export type FindUser = (user: string) => MaybePromise<User | undefined>

/** A user to be added. */
export interface NewUser {
  /** 1 to 200 characters. */
  readonly user: string
  /** Default true. */
  readonly enabled?: boolean
  /** Default: none. */
  readonly roles?: readonly string[]
  /** Default: none. */
  readonly attributes?: Attributes
  /** Needs an HTTP Basic provider, which hashes it. Default: none. */
  readonly password?: string
}

/** What may be changed about a user; absent keeps. */
export interface UserChanges {
  readonly enabled?: boolean
  readonly roles?: readonly string[]
  readonly attributes?: Attributes
  /** Null takes the password away. */
  readonly password?: string | null
}

/** The users that the library keeps itself. Every method throws a TypeError for what can't be done. */
export interface Users {
  /** Throws a TypeError when the user exists already. */
  add(user: NewUser): Promise<User>
  /**
   * Adds the user unless it exists, and returns it as it is stored: roles, attributes, password and
   * `enabled` of a user that exists stay as they are.
   */
  ensure(user: NewUser): Promise<User>
  get(user: string): Promise<User | undefined>
  /** All users by name. */
  list(): Promise<readonly User[]>
  /** In force for the next request (D46). Throws a TypeError for an unknown user. */
  change(user: string, changes: UserChanges): Promise<User>
  /** Takes a user away, and with it the use of its keys. Throws a TypeError for an unknown user. */
  remove(user: string): Promise<void>
}
