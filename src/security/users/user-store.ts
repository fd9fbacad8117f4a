import type { MaybePromise } from '../../maybe-promise.ts'
import type { Attributes } from '../../definition/principal.ts'

/** A user, built in or from the application's function. */
export interface User {
  readonly user: string
  /** The credentials of a disabled user are rejected, from the next request on. */
  readonly enabled: boolean
  readonly roles: readonly string[]
  readonly attributes: Attributes
}

/** A user with the hash of the password, for providers that check passwords. */
export interface Account extends User {
  /** The salted hash; null for a user without a password. */
  readonly password: string | null
}

/** Finds users. It is called once per request, and its results are not cached. */
export interface UserLookup {
  find(user: string): MaybePromise<Account | undefined>
}

/** The application's function that finds users, in place of the built-in users. */
export type FindUser = (user: string) => MaybePromise<User | undefined>

/** A user to add. */
export interface NewUser {
  /** 1 to 200 characters. */
  readonly user: string
  /** Default true. */
  readonly enabled?: boolean
  /** Default: none. */
  readonly roles?: readonly string[]
  /** Default: none. */
  readonly attributes?: Attributes
  /** Requires an HTTP Basic provider, which hashes it. Default: none. */
  readonly password?: string
}

/** The changes of a user. Absent members stay as they are. */
export interface UserChanges {
  readonly enabled?: boolean
  readonly roles?: readonly string[]
  readonly attributes?: Attributes
  /** Null removes the password. */
  readonly password?: string | null
}

/** The built-in users. The methods reject with a TypeError for invalid arguments. */
export interface Users {
  /** Adds a user. Rejects with a TypeError if the user exists. */
  add(user: NewUser): Promise<User>
  /**
   * Adds the user unless it exists, and returns it as it is stored: roles, attributes, password and
   * `enabled` of a user that exists stay as they are.
   */
  ensure(user: NewUser): Promise<User>
  /** Returns a user, or undefined if the user does not exist. */
  get(user: string): Promise<User | undefined>
  /** Returns all users, ordered by name. */
  list(): Promise<readonly User[]>
  /** Changes a user, from the next request on. Rejects with a TypeError for an unknown user. */
  change(user: string, changes: UserChanges): Promise<User>
  /** Removes a user and revokes the user's keys. Rejects with a TypeError for an unknown user. */
  remove(user: string): Promise<void>
}
