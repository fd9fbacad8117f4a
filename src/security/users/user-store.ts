import type { MaybePromise } from '../../maybe-promise.ts'
import type { Attributes } from '../../definition/principal.ts'
import type { ActorOption } from '../actor.ts'
import type { AuditFilter, RecordedChanges, ListPage } from '../audit-filter.ts'

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

/** An event in the audit trail of users. It has the roles, and of everything else only the names of what was changed. */
export interface UserEvent extends RecordedChanges {
  /** An instant. */
  readonly at: string
  readonly event: 'added' | 'changed' | 'removed'
  readonly user: string
  /** Who made the change: the user of a principal, or a name. Null: application code. */
  readonly actor: string | null
  /** The identifier of the key with which the actor made the change, if any. */
  readonly actorKey: string | null
}

/** The built-in users. The methods reject with a TypeError for invalid arguments. */
export interface Users {
  /** Adds a user. Rejects with a TypeError if the user exists. */
  add(user: NewUser, by?: ActorOption): Promise<User>
  /**
   * Adds the user unless it exists, and returns it as it is stored: roles, attributes, password and
   * `enabled` of a user that exists stay as they are.
   */
  ensure(user: NewUser, by?: ActorOption): Promise<User>
  /** Returns a user, or undefined if the user does not exist. */
  get(user: string): Promise<User | undefined>
  /** Returns the users, ordered by name: all of them, or a page. */
  list(page?: ListPage): Promise<readonly User[]>
  /** Changes a user, from the next request on. Rejects with a TypeError for an unknown user. */
  change(user: string, changes: UserChanges, by?: ActorOption): Promise<User>
  /** Removes a user and revokes the user's keys. Rejects with a TypeError for an unknown user. */
  remove(user: string, by?: ActorOption): Promise<void>
  /** Returns the audit trail of users, the oldest event first: all of it, or a page. */
  audit(filter?: AuditFilter): Promise<readonly UserEvent[]>
}
