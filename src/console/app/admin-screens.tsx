import type { FunctionComponent } from 'preact'
import { Audit, RevokedKeys } from './audit.tsx'
import type { Collection } from './collections.ts'
import { Keys } from './keys.tsx'
import { Outbox } from './outbox.tsx'
import { Releases } from './releases.tsx'
import { Service } from './statistics.tsx'
import { Users } from './users.tsx'

/** What a screen of the part for administrators gets. */
interface ScreenOptions {
  readonly collection: Collection
  readonly segments: readonly string[]
  readonly query: URLSearchParams
}

/** A screen of the part for administrators. It is shown to those who may use its collection. */
export interface AdminScreen {
  /** The first segment of its route. */
  readonly name: string
  readonly title: string
  readonly about: string
  /** The collection of the application for administrators that it shows. */
  readonly collection: string
  /** Whether the menu has it. */
  readonly isListed: boolean
  readonly Screen: FunctionComponent<ScreenOptions>
}

/** The screens of the part for administrators, in the order of the menu. */
export const adminScreens: readonly AdminScreen[] = [
  {
    name: 'users',
    title: 'Users',
    about: 'Who may use the service, with which roles',
    collection: 'users',
    isListed: true,
    Screen: Users,
  },
  {
    name: 'keys',
    title: 'Keys',
    about: 'Create, rotate and revoke API keys',
    collection: 'keys',
    isListed: true,
    Screen: Keys,
  },
  {
    name: 'revoked-keys',
    title: 'Revoked keys',
    about: 'Keys that were revoked',
    collection: 'revoked-keys',
    isListed: false,
    Screen: RevokedKeys,
  },
  {
    name: 'audit',
    title: 'Audit trail',
    about: 'What happened to users and keys, and who did it',
    collection: 'events',
    isListed: true,
    Screen: Audit,
  },
  {
    name: 'releases',
    title: 'Releases',
    about: 'Build and download releases',
    collection: 'builds',
    isListed: true,
    Screen: Releases,
  },
  {
    name: 'outbox',
    title: 'Outbox',
    about: 'Deliveries, and those that have failed',
    collection: 'deliveries',
    isListed: true,
    Screen: Outbox,
  },
  {
    name: 'service',
    title: 'Service',
    about: 'Environment, statistics and problems',
    collection: 'statistics',
    isListed: true,
    Screen: Service,
  },
]
