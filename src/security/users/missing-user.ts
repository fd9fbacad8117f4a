// A long string without a space may be an API key that was given instead of a user.
const keyLike = /^[\w-]{22,}$/

/** The error for a user that does not exist. It names the user, unless that may be an API key. */
export function missingUser(call: string, user: string): TypeError {
  const named = keyLike.test(user) ? 'the user' : `the user ${user}`
  return new TypeError(`${call}: ${named} does not exist; add the user first`)
}
