/** Returns a message of a response with the time after which the service allows another try. */
export function withWait(message: string, headers: Headers): string {
  const seconds = Number(headers.get('Retry-After') ?? NaN)
  if (!Number.isInteger(seconds)) return message
  const wait = `Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`
  // The messages of the service say it without the time.
  const rest = message.replace(/\s*Try again later\.$/, '')
  return `${rest} ${wait}`
}
