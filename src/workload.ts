/** What waits and is worked on in the storage of a service, by the workers of all processes that share it. */
export interface Workload {
  /** The deliveries of the outbox that are not delivered, by state; null if the service has no outbox. */
  readonly deliveries: DeliveryLoad | null
  /** The releases that are not built yet; null if the service has no deployment. */
  readonly builds: BuildLoad | null
}

/** Numbers of deliveries of an outbox. */
export interface DeliveryLoad {
  /** An earlier delivery of their lane is not finished. */
  readonly behind: number
  /** To be sent once they are due. */
  readonly waiting: number
  /** A worker sends them. */
  readonly sending: number
  /** Failed for good: to be retried or dropped by hand. */
  readonly dead: number
}

/** Numbers of releases in the build queue. */
export interface BuildLoad {
  /** No worker has claimed them. */
  readonly queued: number
  readonly building: number
}

/** The state of a pool of connections of this process. */
export interface ConnectionLoad {
  /** The storage, such as `postgres`, or `postgres.reads` for the pool of a replica. */
  readonly name: string
  /** The number of connections in use. */
  readonly used: number
  /** The number of open connections that are not used; null if the pool does not report it. */
  readonly idle: number | null
  /** The most connections that the pool opens; null if it has no limit, or does not report it. */
  readonly max: number | null
  /** The number of calls that wait for a connection. */
  readonly pending: number
}

/** Returns pools with unique names: the second one of a name is `name 2`. */
export function uniquelyNamed(pools: readonly ConnectionLoad[]): readonly ConnectionLoad[] {
  const counts = new Map<string, number>()
  return pools.map((pool) => {
    const count = (counts.get(pool.name) ?? 0) + 1
    counts.set(pool.name, count)
    return count === 1 ? pool : { ...pool, name: `${pool.name} ${count}` }
  })
}
