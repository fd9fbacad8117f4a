/** Returns how many milliseconds of processor time some work takes. Other programs do not change it, as they change the time by a clock. */
export function processorTime(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
