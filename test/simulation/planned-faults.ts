import type { Machine } from './machine.ts'
import type { Random } from './random.ts'
import type { Owner } from './scheduler.ts'
import type { World } from './world.ts'

/** Lets crashes, restarts, suspensions, cuts of the network and steps of clocks happen from now on. */
export function planFaults(world: World, self: Owner): void {
  const { rates, scheduler } = world
  const { random } = self
  const machine = (): Machine => random.pick(world.machines)
  every(rates.crashEvery, 'crash', () => {
    const crashed = machine()
    crashed.crash()
    scheduler.after(random.between(10, 3_000), self, 'restarts', () => {
      if (crashed.running === undefined) crashed.start()
    })
  })
  every(rates.crashEvery, 'restart', () => machine().restart())
  every(rates.freezeEvery, 'freeze', () => machine().freeze(random.between(10, 8_000)))
  every(rates.cutEvery, 'cut', () => {
    const { running } = machine()
    // A long one is longer than requests wait for each other.
    const most = random.pick([2_000, 12_000])
    if (running !== undefined) running.link.cutUntil = scheduler.time + random.between(10, most)
  })
  every(rates.clockEvery, 'clock', () => {
    const most = random.pick([5_000, 60_000])
    // Machines that have their time from one server are wrong together.
    const stepped = random.chance(0.3) ? world.machines : [machine()]
    setClocks(world, stepped, random.between(-most, most))
  })

  function every(milliseconds: number, kind: string, happen: () => void): void {
    if (milliseconds === Infinity) return
    const wait = -Math.log(1 - random.next()) * milliseconds
    scheduler.after(wait, self, 'chooses a fault', () => {
      if (world.choices.fault(random, [kind, 1], 'happens')) happen()
      if (!world.isEnding) every(milliseconds, kind, happen)
    })
  }
}

/**
 * Lets a process end and all clocks go back, as the last faults of a simulation. The process is not started again soon:
 * others must take over its jobs. Returns the milliseconds until then.
 */
export function loseLast(world: World, random: Random): number {
  if (!world.choices.fault(random, ['lost', 0.3], 'a process is lost, and clocks go back')) return 0
  const isBuilding = ({ running }: Machine): boolean =>
    running !== undefined && world.checks.jobs.isBuilding(running.owner)
  const lost = world.machines.find(isBuilding) ?? random.pick(world.machines)
  lost.crash()
  setClocks(world, world.machines, -random.between(20_000, 60_000))
  return random.between(20_000, 60_000)
}

function setClocks(world: World, machines: readonly Machine[], offset: number): void {
  for (const { running } of machines)
    if (running !== undefined) world.scheduler.setClock(running.owner, offset)
  world.checks.clockDifference = 120_000
}
